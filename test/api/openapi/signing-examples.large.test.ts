import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { requestSignature } from '../../../src/api/guards/signature.js';
import { hasProgram } from '../../support/has-program.js';
import { runCommands } from '../../support/run-program.js';

const PAGE = readFileSync('docs/http-api.md', 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'signing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A value of the table of the vector. */
function stated(part: string): string {
  const [, value = ''] = new RegExp(`^\\| ${part}[^|]*\\| (?:\`POST\`, )?\`([^\`]+)\` \\|$`, 'm').exec(PAGE) ?? [];
  return value;
}

const SIGNATURE = stated('`X-Signature`');

it('states the signature that the service expects', () => {
  const parts = {
    method: 'POST',
    path: stated('method and path'),
    timestamp: stated('`X-Timestamp`'),
    nonce: stated('`X-Nonce`'),
    body: Buffer.from(stated('body')),
  };
  expect(requestSignature(stated('key'), parts)).toBe(SIGNATURE);
  expect(PAGE).toContain(`body, ${parts.body.length} bytes`);
});

/** The console project of the installed version, with the program of the page. */
const DOTNET = `export DOTNET_CLI_HOME=$PWD DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
mkdir sign && cd sign && dotnet new console > /dev/null && cp ../Program.cs . && dotnet run`;

it.each([
  ['python', 'python3', 'sign.py', 'python3 sign.py'],
  ['php', 'php', 'sign.php', 'php sign.php'],
  ['java', 'java', 'Sign.java', 'java Sign.java'],
  ['go', 'go', 'sign.go', 'HOME=$PWD go run sign.go'],
  ['csharp', 'dotnet', 'Program.cs', DOTNET],
])('is computed alike by the program in %s', async (language, program, file, command) => {
  if (!(await hasProgram(program))) {
    console.log(`${program} is not installed: the program in ${language} was not run.`);
    return;
  }
  const [, source = ''] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(PAGE) ?? [];
  writeFileSync(join(folder, file), source);
  const { stdout, stderr } = await runCommands(command, { cwd: folder });
  expect(stdout.trim().split('\n').at(-1), stderr).toBe(SIGNATURE);
});
