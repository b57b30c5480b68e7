'use strict';

const assert = require('node:assert');
const { chargedWeight, isBulky, volume } = require('../src/parcel.js');
const { price, total } = require('../src/price.js');
const { zoneOf } = require('../src/zones.js');

const book = { length: 25, width: 18, height: 4, weight: 0.8 };
const pillow = { length: 60, width: 40, height: 20, weight: 1.2 };
const skis = { length: 190, width: 15, height: 10, weight: 4 };
const vase = { length: 20, width: 20, height: 30, weight: 1, fragile: true };

function zones() {
  assert.strictEqual(zoneOf('DE'), 'home');
  assert.strictEqual(zoneOf(' fr '), 'near');
  assert.strictEqual(zoneOf('PT'), 'europe');
  assert.strictEqual(zoneOf('JP'), 'world');
}

function sizes() {
  assert.strictEqual(volume(book), 1800);
  assert.ok(isBulky(skis));
  assert.ok(isBulky(vase));
  assert.ok(!isBulky(pillow));
}

function weights() {
  assert.strictEqual(chargedWeight(book), 0.8);
  assert.strictEqual(chargedWeight(pillow), 9.6);
  assert.strictEqual(chargedWeight(skis), 5.7);
}

function prices() {
  assert.strictEqual(price(book, 'DE'), 549);
  assert.strictEqual(price(pillow, 'AT'), 1099 + 9 * 150);
  assert.strictEqual(price(skis, 'SE'), 1499 + 5 * 210 + 1200);
  assert.strictEqual(price(vase, 'JP'), 2999 + 2 * 690 + 1200);
  assert.strictEqual(total([book, book, book], 'DE'), 549 + 549 + 494);
}

for (const test of [zones, sizes, weights, prices]) {
  test();
  console.log(`ok ${test.name}`);
}
