const parts = [
  `a`,
  `b`,
]
