import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { runCommands } from '../../support/run-program.js';
import { isExhaustive } from '../../support/sweeps.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLIENTS = fileURLToPath(new URL('clients/', import.meta.url));
const clientRequire = createRequire(new URL('client/package.json', import.meta.url));
const COMPILER = clientRequire.resolve('typescript/lib/tsc.js');

/** Of the tools that are no dependencies: the versions for which this test was written. */
const HEY_API = '@hey-api/openapi-ts@0.95.0';
const ORVAL = 'orval@7.13.2';
const NSWAG = 'NSwag.ConsoleCore --version 14.8.0';
const KIOTA = 'Microsoft.OpenApi.Kiota --version 1.38.0';
const KIOTA_PACKAGES = ['Abstractions', 'Http.HttpClientLibrary', 'Serialization.Json', 'Serialization.Text'];
const KIOTA_FORMS = ['Serialization.Form', 'Serialization.Multipart'];

/** What each client prints. */
const EXPECTED = {
  pong: 'pong',
  token: expect.stringMatching(/^ct_[0-9a-f]{32}$/),
  item: [1, 'APPROVAL_TOKEN_REQUIRED', 422],
  error: ['VALIDATION_ERROR', 'visitor_id'],
  signedIn: ['Bearer', 'string'],
  panelError: 'MISSING_BEARER_TOKEN',
};

/** The tools are of registries, so that `npm test` leaves this out. */
describe.skipIf(!isExhaustive())('a client that is generated from the served documents', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed();
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-clients-'));
    await cp(CLIENTS, folder, { recursive: true });
    for (const [path, name] of [
      ['/openapi/tool-api.json', 'tool.json'],
      ['/openapi.yaml', 'panel.yaml'],
    ] as const)
      await writeFile(join(folder, name), await (await fetch(app.url + path)).text());
    const versionOf = (slug: string): string => {
      const document = demo.documents.find((one) => one.slug === slug);
      return document?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
    };
    env = {
      // Certificates of a registry that is reached through a proxy, for example.
      ...process.env,
      // A build server of another run would have another home.
      MSBUILDDISABLENODEREUSE: '1',
      BASE: app.url,
      KEY: demo.keys.write,
      // Not VERSION, which would be a property of a .NET project.
      COOKIE_POLICY: versionOf('cookie-policy'),
      EXPLICIT_CONSENT: versionOf('explicit-consent'),
      EMAIL: demo.panel_user.email,
      PASSWORD: demo.panel_user.password,
      DOTNET_CLI_HOME: join(folder, 'dotnet'),
      DOTNET_NOLOGO: '1',
      DOTNET_CLI_TELEMETRY_OPTOUT: '1',
    };
  });
  afterAll(async () => {
    await app?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Installs a tool. Where the registry does not have it, the test is skipped with a sentence. */
  const install = async ({ skip }: TestContext, what: string, commands: string): Promise<void> => {
    const { exitCode, stdout, stderr } = await runCommands(commands, { cwd: folder, env });
    if (exitCode === 0) return;
    const [line = ''] = `${stderr}\n${stdout}`.trim().split('\n');
    skip(`${what} could not be installed here, so that its client was not tested: ${line}`);
  };
  const succeeds = async (commands: string, cwd = folder): Promise<string> => {
    const { exitCode, stdout, stderr } = await runCommands(commands, { cwd, env });
    expect(exitCode, `${commands}\n${stdout}\n${stderr}`).toBe(0);
    return stdout;
  };
  const lastLine = (text: string): unknown => JSON.parse(text.trim().split('\n').at(-1) ?? '');

  /** Compiles a program with strict TypeScript, and runs it. */
  const runTypeScript = async (name: string): Promise<unknown> => {
    const options = {
      compilerOptions: {
        target: 'ES2023',
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
        module: 'ESNext',
        moduleResolution: 'Bundler',
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      files: [`${name}.ts`],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
    await succeeds(`"${process.execPath}" "${COMPILER}" --project .`);
    const outfile = join(folder, `${name}.mjs`);
    await build({ entryPoints: [join(folder, `${name}.ts`)], bundle: true, platform: 'node', format: 'esm', outfile });
    return lastLine(await succeeds(`"${process.execPath}" ${name}.mjs`));
  };

  it('by @hey-api/openapi-ts works', async (context) => {
    await install(
      context,
      HEY_API,
      `mkdir -p hey && cd hey && npm install --no-audit --no-fund ${HEY_API} typescript@5.9.3`,
    );
    for (const document of ['tool.json', 'panel.yaml'])
      await succeeds(`hey/node_modules/.bin/openapi-ts -i ${document} -o ${document.split('.')[0]}`);
    expect(await runTypeScript('hey-api')).toEqual(EXPECTED);
    await rm(join(folder, 'tool'), { recursive: true });
    await rm(join(folder, 'panel'), { recursive: true });
  });

  it('by orval works', async (context) => {
    await install(context, ORVAL, `mkdir -p orval && cd orval && npm install --no-audit --no-fund ${ORVAL}`);
    for (const document of ['tool.json', 'panel.yaml'])
      await succeeds(
        `orval/node_modules/.bin/orval --input ${document} --output ${document.split('.')[0]}.ts --client fetch --mode single`,
      );
    expect(await runTypeScript('orval')).toEqual(EXPECTED);
  });

  /** A console project with these files of the fixture. */
  const dotnetProject = async (name: string, files: readonly string[]): Promise<string> => {
    const project = join(folder, name);
    await mkdir(project);
    await succeeds(`dotnet new console --name client --output .`, project);
    await rm(join(project, 'Program.cs'));
    for (const file of files) await cp(join(CLIENTS, file), join(project, file));
    return project;
  };

  /** Classes without a member of their own or of the class that they extend. */
  const emptyClasses = (source: string): readonly string[] => {
    const classes = source.matchAll(/public partial class (\w+)(?: : (\w+))?\s*\{([\s\S]*?)\n {4}\}/g);
    return [...classes].flatMap(([, name = '', base, body = '']) => {
      const members = [...body.matchAll(/public [\w.<>?, ]+ (\w+)\s*\{ get/g)].map(([, member]) => member);
      return base === undefined && members.every((member) => member === 'AdditionalProperties') ? [name] : [];
    });
  };

  it('by NSwag works', async (context) => {
    await install(context, 'NSwag', `dotnet tool install --tool-path tools ${NSWAG}`);
    const project = await dotnetProject('nswag', ['NSwag.cs', 'Signing.cs']);
    // Its own library: that of .NET writes the names of C# for those of an enumeration.
    await install(context, 'Newtonsoft.Json', 'cd nswag && dotnet add package Newtonsoft.Json --version 13.0.3');
    for (const [document, name] of [
      ['tool.json', 'Tool'],
      ['panel.yaml', 'Panel'],
    ] as const) {
      const options = `/classname:${name}Client /namespace:${name} /jsonLibrary:NewtonsoftJson`;
      await succeeds(`tools/nswag openapi2csclient /input:${document} /output:nswag/${name}.cs ${options}`);
      const source = await readFile(join(project, `${name}.cs`), 'utf8');
      console.log(`NSwag, ${document}: ${source.match(/partial class |public enum /g)?.length} classes`);
      expect(emptyClasses(source)).toEqual([]);
      await succeeds(`tools/nswag openapi2tsclient /input:${document} /output:nswag-${name}.ts`);
    }
    expect(lastLine(await succeeds('dotnet run -v quiet', project))).toEqual(EXPECTED);
    const strict = {
      strict: true,
      noEmit: true,
      target: 'ES2022',
      module: 'ES2022',
      lib: ['ES2023', 'DOM'],
      types: [],
    };
    const files = ['nswag-Tool.ts', 'nswag-Panel.ts'];
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, files }));
    await succeeds(`"${process.execPath}" "${COMPILER}" --project .`);
  });

  it('by Kiota works', async (context) => {
    await install(context, 'Kiota', `dotnet tool install --tool-path tools ${KIOTA}`);
    const project = await dotnetProject('kiota', ['Kiota.cs', 'Signing.cs']);
    for (const name of [...KIOTA_PACKAGES, ...KIOTA_FORMS])
      await install(context, `Microsoft.Kiota.${name}`, `cd kiota && dotnet add package Microsoft.Kiota.${name}`);
    for (const [document, name] of [
      ['tool.json', 'Tool'],
      ['panel.yaml', 'Panel'],
    ] as const) {
      const output = await succeeds(
        `tools/kiota generate -l CSharp -d ${document} -c ${name}Client -n ${name}Api -o kiota/${name}`,
      );
      expect(output).not.toContain('polymorphic');
      const files = await readdir(join(project, name), { recursive: true });
      console.log(`Kiota, ${document}: ${files.filter((file) => file.endsWith('.cs')).length} files`);
    }
    expect(lastLine(await succeeds('dotnet run -v quiet', project))).toEqual(EXPECTED);
  });
});
