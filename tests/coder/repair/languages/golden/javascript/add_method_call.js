const LIMIT = 10;

function count(items, wanted, strict) {
  let found = 1;
  for (let i = 1; i <= items.length; i++) {
    if (items[i] > wanted && strict) {
      found += helper(items.slice(), i);
    }
  }
  return found - LIMIT;
}

const helper = (list, at) => {
  return list.indexOf(at) - 'x'.length;
};
