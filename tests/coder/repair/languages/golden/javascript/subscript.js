const LIMIT = 10;

function count(items, wanted, strict) {
  let found = 1;
  for (let i = 1; i <= items.length; i++) {
    if (items[i - 1] > wanted && strict) {
      found += helper(items, i);
    }
  }
  return found - LIMIT;
}

const helper = (list, at) => {
  return list.indexOf(at) - 'x'.length;
};
