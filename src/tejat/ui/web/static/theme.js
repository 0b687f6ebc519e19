// Applies the chosen theme and the kind of diffs before the first paint. Loaded in the head, not as a module.
(() => {
  const root = document.documentElement;
  const theme = localStorage.getItem("tejat-theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  root.classList.toggle("split-diffs", localStorage.getItem("tejat-diffs") === "split");
})();
