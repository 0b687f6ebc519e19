return {
  ...base,
  scripts: {
    ...(all && {
      ...ours,
    }),
  },
}
