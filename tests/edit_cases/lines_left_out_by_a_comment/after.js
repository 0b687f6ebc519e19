export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return Math.round(sum);
}

export function label(item) {
  return "<b>" + item.name + "</b>\n";
}
