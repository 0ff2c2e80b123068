import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { runProgram } from '../../support/run-program.js';
import { until } from '../../support/wait.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLES = join(ROOT, 'docs/examples');
/** The frameworks and their versions, which `npm ci` of the repository does not install. */
const LOCKED = join(ROOT, 'test/sdk/frameworks');
/** Their installation, outside of the folders that other tests read, and within reach of the packages here. */
const FRAMEWORKS = join(ROOT, 'dist/frameworks');
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** The site and the service that a page is built for. */
export interface PageSite {
  readonly service: string;
  readonly apiKey: string;
  readonly port: number;
}

/** A page that is served until it is closed. */
export interface ServedPage {
  close(): Promise<void>;
}

async function run(folder: string, script: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { exitCode, stdout, stderr } = await runProgram(process.execPath, [script, ...args], { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`${script} ${args.join(' ')}: ${stdout}${stderr}`);
}

/** Installs the frameworks as they are locked, unless they are there. */
export async function installFrameworks(): Promise<void> {
  await cp(LOCKED, FRAMEWORKS, { recursive: true });
  const { exitCode, stderr } = await runProgram('npm', ['ls', '--depth=0'], { cwd: FRAMEWORKS });
  if (exitCode === 0) return;
  const installed = await runProgram('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FRAMEWORKS });
  if (installed.exitCode !== 0) throw new Error(`${stderr}${installed.stderr}`);
}

/**
 * Builds an example by Vite, and serves it.
 * @param isDevelopment whether React runs as in development, with everything twice in strict mode
 * @param from the folder of the installation; undefined: that of the repository
 */
export async function viteBuilt(
  example: string,
  { service, apiKey, port }: PageSite,
  { isDevelopment = false, isOfFrameworks = false } = {},
): Promise<ServedPage> {
  const home = isOfFrameworks ? FRAMEWORKS : ROOT;
  const folder = isOfFrameworks ? join(FRAMEWORKS, 'pages', example) : join(EXAMPLES, example);
  if (isOfFrameworks) await cp(join(EXAMPLES, example), folder, { recursive: true });
  const out = join(FRAMEWORKS, 'pages', `built-${example}`);
  const env = {
    NODE_ENV: isDevelopment ? 'development' : 'production',
    VITE_CONSENT_SERVICE: service,
    VITE_CONSENT_KEY: apiKey,
  };
  const mode = ['--mode', env.NODE_ENV, '--outDir', out, '--emptyOutDir', '--logLevel', 'warn'];
  await run(folder, join(home, 'node_modules/vite/bin/vite.js'), ['build', folder, ...mode], env);
  return served(out, port);
}

/** Builds the example of Next.js, and starts its server. */
export async function nextBuilt(example: string, { service, apiKey, port }: PageSite): Promise<ServedPage> {
  const folder = join(FRAMEWORKS, 'pages', example);
  await rm(folder, { recursive: true, force: true });
  await cp(join(EXAMPLES, example), folder, { recursive: true });
  // A link would lead to the repository, and to another React.
  const installed = join(FRAMEWORKS, 'node_modules/@consent-ledger/react');
  await rm(installed, { recursive: true, force: true });
  for (const name of ['package.json', 'dist'])
    await cp(join(ROOT, 'sdk/react', name), join(installed, name), { recursive: true });
  const config = { turbopack: { root: FRAMEWORKS } };
  await writeFile(join(folder, 'next.config.mjs'), `export default ${JSON.stringify(config)};\n`);
  const env = { NEXT_PUBLIC_CONSENT_SERVICE: service, NEXT_PUBLIC_CONSENT_KEY: apiKey, NEXT_TELEMETRY_DISABLED: '1' };
  const program = join(FRAMEWORKS, 'node_modules/next/dist/bin/next');
  await run(folder, program, ['build'], env);
  const server = spawn(process.execPath, [program, 'start', '--port', String(port), '--hostname', '127.0.0.1'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: 'ignore',
  });
  await answering(`http://127.0.0.1:${port}/`, server);
  return {
    close: async () => {
      server.kill('SIGTERM');
      await new Promise((resolve) => server.once('exit', resolve));
    },
  };
}

async function answering(url: string, server: ChildProcess): Promise<void> {
  await until(async () => {
    if (server.exitCode !== null) throw new Error(`the server of ${url} ended with ${server.exitCode}`);
    return (await fetch(url).catch(() => null))?.ok;
  }, 100);
}

/**
 * Bundles a page by esbuild, and serves it.
 * @param modules what the page imports by each name in place of a package: the text of a module, or a folder
 */
export async function bundled(
  example: string,
  { service, apiKey, port }: PageSite,
  { entry, modules = {} }: { readonly entry: string; readonly modules?: Readonly<Record<string, string>> },
): Promise<ServedPage> {
  const out = join(FRAMEWORKS, 'pages', `bundled-${example}`);
  await mkdir(out, { recursive: true });
  const replaced: Plugin = {
    name: 'replaced',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /./ }, ({ path }) => {
        const text = modules[path];
        if (text === undefined) return undefined;
        return text.startsWith('/') ? { path: text } : { path, namespace: 'replaced' };
      });
      onLoad({ filter: /./, namespace: 'replaced' }, ({ path }) => ({
        contents: modules[path] ?? '',
        loader: 'jsx',
        resolveDir: ROOT,
      }));
    },
  };
  await build({
    ...{
      stdin: { contents: entry, loader: 'jsx', resolveDir: join(EXAMPLES, example) },
      outfile: join(out, 'main.js'),
    },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    plugins: [replaced],
    logLevel: 'warning',
    define: {
      'process.env.NODE_ENV': '"development"',
      'import.meta.env': JSON.stringify({ VITE_CONSENT_SERVICE: service, VITE_CONSENT_KEY: apiKey }),
    },
  });
  const html = '<!doctype html><title>Shop</title><div id="root"></div><script type="module" src="/main.js"></script>';
  await writeFile(join(out, 'index.html'), html);
  return served(out, port);
}

/** The folder of an installed framework. */
export const ofFrameworks = (name: string): string => join(FRAMEWORKS, 'node_modules', name);

/** Serves the files of a folder; its index for every other path. */
export async function served(folder: string, port: number): Promise<ServedPage> {
  const server: Server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://page').pathname;
    const name = extname(path) === '' ? '/index.html' : path;
    const body = await readFile(join(folder, name)).catch(() => null);
    if (body === null) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
