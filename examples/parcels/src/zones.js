'use strict';

const ZONES = {
  home: ['DE'],
  near: ['AT', 'BE', 'CH', 'CZ', 'DK', 'FR', 'LU', 'NL', 'PL'],
  europe: ['ES', 'FI', 'GB', 'GR', 'IE', 'IT', 'NO', 'PT', 'SE'],
};

/** The zone of a country by its two letters; "world" for all that are not listed. */
function zoneOf(country) {
  const code = country.trim().toUpperCase();
  for (const [zone, countries] of Object.entries(ZONES)) {
    if (countries.includes(code)) {
      return zone;
    }
  }
  return 'world';
}

module.exports = { zoneOf };
