'use strict';

// Carriers charge for room: so many cubic centimetres count as one kilogram.
const VOLUME_PER_KILOGRAM = 5000;
const LONGEST_SIDE = 120;

function volume(parcel) {
  const { length, width, height } = parcel;
  return length * width * height;
}

/** The weight that is charged, in kilograms: by the scale or by the room it takes, whichever is more. */
function chargedWeight(parcel) {
  const byRoom = volume(parcel) / VOLUME_PER_KILOGRAM;
  return Math.min(parcel.weight, byRoom);
}

/** Whether a parcel must be handled by hand: long ones, and those marked as fragile. */
function isBulky(parcel) {
  const longest = Math.max(parcel.length, parcel.width, parcel.height);
  return longest > LONGEST_SIDE || Boolean(parcel.fragile);
}

module.exports = { chargedWeight, isBulky, volume };
