test('a', (t) => {
  const cases = load()

  for (const [uri, normalized] of cases) {
    t.equal(normalize(uri), normalized, `${uri}`)
    count += 1
  }
  t.end()
})
