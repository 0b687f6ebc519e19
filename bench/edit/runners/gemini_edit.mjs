// Gives edits to the edit tool of @google/gemini-cli-core, with no model behind it: lines of {file_path, old_string,
// new_string, ...} come in, lines of {error, said} go out. The directory of the package is the only argument.
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const core = (name) => import(pathToFileURL(join(process.argv[2], 'dist', 'src', name)).href);
const { EditTool } = await core('tools/edit.js');
const { StandardFileSystemService } = await core('services/fileSystemService.js');

const files = new StandardFileSystemService();
const answers = {
  getFileSystemService: () => files,
  getTargetDir: () => process.cwd(),
  getProjectRoot: () => process.cwd(),
  isPlanMode: () => false,
  getDisableLLMCorrection: () => true,
  getUsageStatisticsEnabled: () => false,
  validatePathAccess: () => null,
};
// Whatever else the tool asks of its configuration is answered with nothing.
const config = new Proxy(answers, { get: (known, name) => known[name] ?? (() => undefined) });
const bus = new Proxy({}, { get: () => () => undefined });
const tool = new EditTool(config, bus);

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    // It insists on an instruction, which only a model would read.
    const given = { instruction: 'Make this edit.', ...JSON.parse(line) };
    const result = await tool.build(given).execute({ abortSignal: new AbortController().signal });
    answer = { error: result.error !== undefined, said: String(result.llmContent) };
  } catch (error) {
    answer = { error: true, said: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
