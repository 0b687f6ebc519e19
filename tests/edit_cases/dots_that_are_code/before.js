return {
  ...base,
  scripts: {
    ...ours,
  },
}
