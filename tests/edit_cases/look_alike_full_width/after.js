export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}

export function label(item, next) {
  return "<b>" + item.name + "</b>\n";
}
