// Drives Chromium for the tests in Python: one JSON request per line on standard input, one JSON answer per line.
// A request calls a method of a page by its name, or one of those below.

const readline = require("node:readline");
const { chromium } = require(process.argv[2]);

const pages = new Map();
let browser;

const methods = {
  async launch({ executable, args }) {
    browser = await chromium.launch({ executablePath: executable, args, headless: true });
  },
  async open({ name, options }) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const log = { console: [], requests: [], errors: [] };
    context.on("page", (other) => other !== page && log.errors.push(`opened ${other.url()}`));
    page.on("console", (message) => log.console.push(`${message.type()}: ${message.text()}`));
    page.on("request", (request) => log.requests.push(request.url()));
    page.on("pageerror", (error) => log.errors.push(String(error)));
    pages.set(name, { context, page, log });
  },
  async close({ name }) {
    await pages.get(name).context.close();
    pages.delete(name);
  },
  async log({ name }) {
    return pages.get(name).log;
  },
  async call({ name, path, method, args }) {
    const { page, context } = pages.get(name);
    let target = page;
    for (const [step, ...values] of path)
      target =
        step === "context" ? context : typeof target[step] === "function" ? target[step](...values) : target[step];
    const value = await target[method](...args);
    return Buffer.isBuffer(value) ? null : value && typeof value === "object" && "_guid" in value ? null : value;
  },
  async evaluate({ name, code, argument }) {
    return pages.get(name).page.evaluate(`(${code})(${JSON.stringify(argument ?? null)})`);
  },
  async evaluateFile({ name, file }) {
    // Through the protocol of the browser, so that the policy of the page needs no exception.
    await pages.get(name).page.evaluate(require("node:fs").readFileSync(file, "utf8"));
  },
  async cdp({ name, method, params }) {
    const entry = pages.get(name);
    entry.cdp ??= await entry.context.newCDPSession(entry.page);
    return entry.cdp.send(method, params);
  },
};

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { kind, ...request } = JSON.parse(line);
    let answer;
    try {
      answer = { value: (await methods[kind](request)) ?? null };
    } catch (error) {
      answer = { error: String(error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await browser?.close();
}

main();
