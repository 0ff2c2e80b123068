import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { abortOf } from '../../platform/background/signals.js';
import { DevTools, type OnEvent } from './dev-tools.js';
import type { Faults } from './faults.js';
import { ScanFailed } from './visit.js';

/**
 * WebRTC would send packets that pass no proxy. The second is the name of the flag in earlier versions of
 * Chromium. No scan by browser is made without the proof that one of them works (prove-browser.ts).
 */
const WEBRTC_FLAGS = [
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/** Each keeps the browser to its proxy. test/tenancy/scans/browser-flags.large.test.ts shows what is sent without it. */
const GUARDS = {
  webRtc: WEBRTC_FLAGS,
  // A connection by QUIC passes no proxy.
  quic: ['--disable-quic'],
  // The proxy alone resolves names.
  names: ['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'],
  // Without this rule a browser reaches loopback without the proxy.
  loopback: ['--proxy-bypass-list=<-loopback>'],
} as const;
export type Guard = keyof typeof GUARDS | 'proxy';

const FLAGS: readonly string[] = [
  '--headless',
  '--disable-breakpad',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-first-run',
  '--remote-debugging-pipe',
  '--window-size=1280,1024',
];

export interface BrowserOptions {
  /** Path of Chromium or Chrome. */
  readonly executable: string;
  readonly proxyPort: number;
  readonly onEvent: OnEvent;
  readonly faults: Faults;
  /** Ends the browser at any time: every command in progress fails, and every later one. */
  readonly limit: AbortSignal;
  /** Guards that are left out, to see what they keep back. */
  readonly without?: readonly Guard[];
  /** Further flags, for tests. */
  readonly flags?: readonly string[];
}

/**
 * A headless Chromium with a profile of its own, controlled by the DevTools protocol over a pipe,
 * which no page can reach. It reaches the network through a proxy on loopback only.
 */
export interface Browser {
  readonly tools: DevTools;
  /** Ends the browser, and deletes its profile. Its other processes end with its first one. */
  close(): Promise<void>;
}

/**
 * Starts a browser, in the process group of the caller.
 * @throws ScanFailed if it does not start
 */
export async function startBrowser(options: BrowserOptions): Promise<Browser> {
  const { executable, proxyPort, onEvent, faults, limit, without = [], flags = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), 'profile-'));
  const guards = Object.entries({ ...GUARDS, proxy: [`--proxy-server=http://127.0.0.1:${proxyPort}`] });
  const kept = guards.flatMap(([name, texts]) => (without.some((one) => one === name) ? [] : texts));
  // As root, Chromium does not start with its sandbox.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [...FLAGS, ...sandbox, ...kept, ...flags, `--user-data-dir=${folder}`, 'about:blank'];
  const child = spawn(executable, args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    // A page that escapes from the browser must not find the secrets of the service.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: tmpdir(), LANG: 'C.UTF-8' },
  });
  const [input, output] = [child.stdio[3], child.stdio[4]];
  if (!(input instanceof Writable) || !(output instanceof Readable)) throw new Error('the browser has no pipe');
  const tools = new DevTools(input, output, onEvent, faults);
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      tools.end('The browser ended.');
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  const aborted = abortOf(limit);
  void Promise.race([aborted.promise, tools.ended]).then(() => {
    aborted.release();
    child.kill('SIGKILL');
  });
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    await tools.send('Browser.getVersion', {}, z.unknown());
  } catch (error) {
    await close();
    throw new ScanFailed('The browser of the service does not start. Tell its operator.', { cause: error });
  }
  return { tools, close };
}
