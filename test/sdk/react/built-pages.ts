import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { runProgram } from '../../support/run-program.js';
import { until } from '../../support/wait.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLES = join(ROOT, 'docs/examples');
/** The frameworks and their versions, which `npm ci` of the repository does not install. */
const LOCKED = join(ROOT, 'test/sdk/frameworks');
/** Their installation, outside of the folders that other tests read, and within reach of the packages here. */
const FRAMEWORKS = join(ROOT, 'dist/frameworks');
/** Nuxt and Astro, whose packages do not agree with both versions of React there. */
const LOCKED_BUILDERS = join(ROOT, 'test/sdk/site-builders');
const BUILDERS = join(ROOT, 'dist/site-builders');
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
export const installFrameworks = (): Promise<void> => installed(LOCKED, FRAMEWORKS);

/** Installs Nuxt and Astro as they are locked, unless they are there. */
export const installSiteBuilders = (): Promise<void> => installed(LOCKED_BUILDERS, BUILDERS);

async function installed(locked: string, folder: string): Promise<void> {
  await cp(locked, folder, { recursive: true });
  const { exitCode, stderr } = await runProgram('npm', ['ls', '--depth=0'], { cwd: folder });
  if (exitCode === 0) return;
  // No package needs its script of installation here, and what none runs can do no harm.
  const scripts = folder === BUILDERS ? ['--ignore-scripts'] : [];
  const { exitCode: code, stderr: why } = await runProgram('npm', ['ci', '--no-audit', '--no-fund', ...scripts], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(`${stderr}${why}`);
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
  const NODE_ENV = isDevelopment ? 'development' : 'production';
  const out = join(FRAMEWORKS, 'pages', `built-${example}-${NODE_ENV}`);
  const env = {
    NODE_ENV,
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
  return started(folder, [program, 'start', '--port', String(port), '--hostname', '127.0.0.1'], env, port);
}

/** Builds the example of Nuxt, and starts its server. */
export async function nuxtBuilt(example: string, { service, apiKey, port }: PageSite): Promise<ServedPage> {
  const folder = await inBuilders(example);
  const env = { CONSENT_SERVICE: service, CONSENT_KEY: apiKey, NUXT_TELEMETRY_DISABLED: '1' };
  await run(folder, join(BUILDERS, 'node_modules/nuxt/bin/nuxt.mjs'), ['build'], env);
  return started(folder, ['.output/server/index.mjs'], { PORT: String(port), HOST: '127.0.0.1' }, port);
}

/** Builds the example of Astro, whose pages are files, and serves it. */
export async function astroBuilt(example: string, { service, apiKey, port }: PageSite): Promise<ServedPage> {
  const folder = await inBuilders(example);
  const env = { PUBLIC_CONSENT_SERVICE: service, PUBLIC_CONSENT_KEY: apiKey, ASTRO_TELEMETRY_DISABLED: '1' };
  await run(folder, join(BUILDERS, 'node_modules/astro/astro.js'), ['build', '--silent'], env);
  return served(join(folder, 'dist'), port);
}

/** A copy of an example from which Node finds the packages of the site builders. */
async function inBuilders(example: string): Promise<string> {
  const folder = join(BUILDERS, 'pages', example);
  await rm(folder, { recursive: true, force: true });
  await cp(join(EXAMPLES, example), folder, { recursive: true });
  return folder;
}

/** Starts the server of a page, and waits until it answers. */
async function started(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  port: number,
): Promise<ServedPage> {
  const server = spawn(process.execPath, args, {
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

/**
 * Serves the files of a folder, compressed and for browsers to keep, as most servers do; its index, which they do not
 * keep, for every other path.
 */
export async function served(folder: string, port: number): Promise<ServedPage> {
  const server: Server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://page').pathname;
    const name = extname(path) === '' ? '/index.html' : path;
    const body = await readFile(join(folder, name)).catch(() => null);
    if (body === null) response.writeHead(404).end();
    else
      response
        .writeHead(200, {
          'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
          'content-encoding': 'gzip',
          'cache-control': name === '/index.html' ? 'no-cache' : 'max-age=3600',
        })
        .end(gzipSync(body));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
