// The texts of the page, translated by the server.

const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");

/**
 * A text by its key, with values in place of `{names}`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (/** @type {string} */ whole, /** @type {string} */ name) =>
    name in values ? String(values[name]) : whole,
  );
}

/**
 * One of two texts, by a number.
 * @param {string} one
 * @param {string} many
 * @param {number} count
 */
export function plural(one, many, count) {
  return t(count === 1 ? one : many, { count });
}

/** How long ago something was, in words. @param {number} seconds since 1970 */
export function age(seconds) {
  const passed = Math.max(0, Date.now() / 1000 - seconds);
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang || undefined, { numeric: "auto" });
  if (passed < 60) return t("just_now");
  if (passed < 3600) return format.format(-Math.floor(passed / 60), "minute");
  if (passed < 86400) return format.format(-Math.floor(passed / 3600), "hour");
  return format.format(-Math.floor(passed / 86400), "day");
}

/** A size in bytes. @param {number} bytes */
export function fileSize(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Seconds as `1:05`. @param {number} seconds */
export function elapsed(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const rest = String(whole % 60).padStart(2, "0");
  return whole < 3600
    ? `${Math.floor(whole / 60)}:${rest}`
    : `${Math.floor(whole / 3600)}:${String(Math.floor(whole / 60) % 60).padStart(2, "0")}:${rest}`;
}
