const parts = [
  `a`,
  42.5,
  `b`,
]
