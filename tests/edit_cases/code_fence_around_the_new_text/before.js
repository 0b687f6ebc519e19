export function run(list) {
  const out = [];
  for (const item of list) {
    if (item.ok) {
      out.push(item.name);
      count(item);
    }
  }
  return out;
}

export function stop() {
  return null;
}
