import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { abortOf } from '../../platform/background/signals.js';
import { ScanFailed } from './visit.js';

const FLAGS: readonly string[] = [
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--dns-prefetch-disable',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-first-run',
  '--no-service-autorun',
  '--remote-debugging-pipe',
  '--window-size=1280,1024',
  // WebRTC would open connections that pass no proxy.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  // The proxy alone resolves names.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // Without this rule a browser reaches loopback without the proxy.
  '--proxy-bypass-list=<-loopback>',
];

const MAX_MESSAGE = 20_000_000;

const Message = z.looseObject({
  id: z.int().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  sessionId: z.string().optional(),
});
type Message = z.infer<typeof Message>;

interface Waiting {
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** Receives the events of the browser. */
export type OnEvent = (method: string, params: unknown, session: string | undefined) => void;

/**
 * A headless Chromium with a profile of its own, controlled by the DevTools protocol over a pipe,
 * which no page can reach. It reaches the network through a proxy on loopback only.
 */
export class Browser {
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<unknown>;
  readonly #input: Writable;
  #hasEnded = false;
  #lastId = 0;
  #rest = '';

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    private readonly onEvent: OnEvent,
  ) {
    const [input, output] = [process.stdio[3], process.stdio[4]];
    if (!(input instanceof Writable) || !(output instanceof Readable)) throw new Error('the browser has no pipe');
    this.#input = input;
    // A write to a browser that has ended fails by the end of the process.
    input.on('error', () => undefined);
    output.setEncoding('utf8').on('data', (text: string) => this.#receive(text));
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true;
        for (const { reject } of this.#waiting.values()) reject(new ScanFailed('The browser ended.'));
        this.#waiting.clear();
        resolve(undefined);
      };
      process.once('exit', end);
      process.once('error', end);
    });
  }

  /**
   * Starts the browser.
   * @param executable path of Chromium or Chrome
   * @param limit ends the browser at any time: every command in progress fails, and every later one
   * @throws ScanFailed if it does not start
   */
  static async start(executable: string, proxyPort: number, onEvent: OnEvent, limit: AbortSignal): Promise<Browser> {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-scan-'));
    // As root, Chromium does not start with its sandbox.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const proxy = `--proxy-server=http://127.0.0.1:${proxyPort}`;
    const child = spawn(executable, [...FLAGS, ...sandbox, proxy, `--user-data-dir=${folder}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      // A page that escapes from the browser must not find the secrets of the service.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: tmpdir(), LANG: 'C.UTF-8' },
      detached: true,
    });
    const browser = new Browser(child, folder, onEvent);
    const aborted = abortOf(limit);
    void aborted.promise.then(() => browser.#kill());
    void browser.#ended.then(() => aborted.release());
    try {
      await browser.send('Browser.getVersion', {}, z.unknown());
    } catch (error) {
      await browser.close();
      throw new ScanFailed('The browser of the service does not start. Tell its operator.', { cause: error });
    }
    return browser;
  }

  /**
   * Sends a command and parses its result.
   * @throws ScanFailed for a command that failed, and if the browser ends
   */
  async send<T>(method: string, params: object, result: z.ZodType<T>, sessionId?: string): Promise<T> {
    if (this.#hasEnded) throw new ScanFailed('The browser ended.');
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Message>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result: value } = await answer;
    if (error !== undefined) throw new ScanFailed(`The browser refused ${method}: ${error.message}`);
    return result.parse(value);
  }

  /** Ends the browser with all its processes, and deletes its profile. */
  async close(): Promise<void> {
    this.#kill();
    await this.#ended;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #kill(): void {
    const { pid } = this.process;
    if (pid === undefined || this.#hasEnded) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  #receive(text: string): void {
    const parts = (this.#rest + text).split('\0');
    this.#rest = parts.pop() ?? '';
    if (this.#rest.length > MAX_MESSAGE) this.process.kill('SIGKILL');
    for (const part of parts) {
      const message = Message.parse(JSON.parse(part));
      if (message.id !== undefined) {
        this.#waiting.get(message.id)?.resolve(message);
        this.#waiting.delete(message.id);
      } else if (message.method !== undefined) this.onEvent(message.method, message.params, message.sessionId);
    }
  }
}
