import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { abortOf } from '../../platform/background/signals.js';
import { deferred } from '../../platform/deferred.js';
import { type Faults, LIMITS, ScanFailed } from './visit.js';

/**
 * WebRTC would send packets past the proxy. The second flag is the name in earlier versions of Chromium. No page is
 * scanned by browser without proof that one of them works (prove-browser.ts).
 */
const WEBRTC_FLAGS = [
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/**
 * Each of these keeps the browser on its proxy. test/tenancy/scans/browser-flags.large.test.ts shows what is sent
 * without it.
 */
const GUARDS = {
  webRtc: WEBRTC_FLAGS,
  // QUIC connections bypass the proxy.
  quic: ['--disable-quic'],
  // Only the proxy resolves names.
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
  /** Guards to omit, for tests that show what they block. */
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
  /** Ends the browser and deletes its profile. Its other processes end with the first one. */
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
  // Chromium does not start with its sandbox as root.
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
type OnEvent = (method: string, params: unknown, session: string | undefined) => void;

/**
 * The DevTools protocol of a browser over a pipe. A page influences much of what the browser sends, so an unreadable
 * message ends the browser.
 */
export class DevTools {
  readonly #end = deferred<false>();
  /** Resolves when the browser no longer accepts commands. */
  readonly ended = this.#end.promise;
  readonly #waiting = new Map<number, Waiting>();
  #ending: string | null = null;
  #lastId = 0;

  constructor(
    private readonly input: Writable,
    output: Readable,
    onEvent: OnEvent,
    faults: Faults,
  ) {
    // If the browser has ended, its exit is reported elsewhere.
    for (const pipe of [input, output]) pipe.on('error', () => undefined);
    const read = createMessageReader((message) => this.#take(message, onEvent));
    output.on(
      'data',
      faults.guard(
        (piece: Buffer) => read(piece),
        () => this.end('The browser sent what cannot be read.'),
      ),
    );
  }

  /**
   * Sends a command and parses its result.
   * @throws ScanFailed for a command that failed, and if the browser ends
   */
  async send<T>(method: string, params: object, result: z.ZodType<T>, sessionId?: string): Promise<T> {
    if (this.#ending !== null) throw new ScanFailed(this.#ending);
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Message>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result: value } = await answer;
    if (error !== undefined) throw new ScanFailed(`The browser refused ${method}: ${error.message.slice(0, 500)}`);
    const parsed = result.safeParse(value);
    if (!parsed.success) throw new ScanFailed(`The browser answered ${method} by what cannot be read.`);
    return parsed.data;
  }

  /** Makes every command fail, both those in progress and later ones. @param reason the reason, as shown to the user */
  end(reason: string): void {
    this.#ending ??= reason;
    for (const { reject } of this.#waiting.values()) reject(new ScanFailed(this.#ending));
    this.#waiting.clear();
    this.#end.resolve(false);
  }

  #take(message: Message, onEvent: OnEvent): void {
    if (this.#ending !== null) return;
    const { id, method, params, sessionId } = message;
    if (id !== undefined) {
      this.#waiting.get(id)?.resolve(message);
      this.#waiting.delete(id);
    } else if (method !== undefined) onEvent(method, params, sessionId);
  }
}

/**
 * Reads messages in JSON, each ended by a zero byte. The pieces of a message are joined once it is complete, so the
 * cost is linear in its length.
 * @returns a function that takes the next bytes. @throws Error for a message that is too long or malformed
 */
export function createMessageReader(onMessage: (message: Message) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > LIMITS.messageBytes) throw new Error('a message of the browser is too long');
    pieces.push(piece);
  };
  return (piece) => {
    let start = 0;
    for (let end = piece.indexOf(0); end !== -1; end = piece.indexOf(0, start)) {
      keep(piece.subarray(start, end));
      const text = Buffer.concat(pieces, bytes).toString('utf8');
      pieces = [];
      bytes = 0;
      start = end + 1;
      onMessage(Message.parse(JSON.parse(text)));
    }
    keep(piece.subarray(start));
  };
}
