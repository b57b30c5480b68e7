'use strict';

const { chargedWeight, isBulky } = require('./parcel.js');
const { zoneOf } = require('./zones.js');

// In cents: the first kilogram, and each further one that is begun.
const RATES = {
  home: { first: 549, further: 80 },
  near: { first: 1099, further: 150 },
  europe: { first: 1499, further: 210 },
  world: { first: 2999, further: 690 },
};
const BULKY = 1200;

/** What a parcel costs, in cents. */
function price(parcel, country) {
  const rate = RATES[zoneOf(country)];
  const kilograms = Math.max(1, Math.ceil(chargedWeight(parcel)));
  let cents = rate.first + (kilograms - 1) * rate.further;
  if (isBulky(parcel)) {
    cents += BULKY;
  }
  return cents;
}

/** What several parcels cost together: from the third one on, each is a tenth cheaper. */
function total(parcels, country) {
  return parcels.reduce((sum, parcel, index) => {
    const cents = price(parcel, country);
    return sum + (index >= 2 ? Math.round(cents * 0.9) : cents);
  }, 0);
}

module.exports = { price, total };
