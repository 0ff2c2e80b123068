import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Path of Chromium; undefined if there is none, and the tests that need it are skipped. CHROMIUM
 * sets another path.
 */
export const chromiumPath = [process.env.CHROMIUM ?? '', ...PATHS].find((path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

/**
 * Without them, Chromium starts a process for most pages that a test opens: one in advance, and one
 * for the page that it keeps in memory for the way back.
 */
const DISABLED_FEATURES = ['SpareRendererForSitePerProcess', 'BackForwardCache'];

/** For `ChromiumPage.open`: pages are kept in memory for the way back, as users have it. */
export const WITH_BACK_FORWARD_CACHE = `--disable-features=${DISABLED_FEATURES[0]}`;

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--remote-debugging-pipe',
  '--window-size=1100,1400',
  `--disable-features=${DISABLED_FEATURES}`,
];

const Message = z.looseObject({
  id: z.int().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ message: z.string() }).optional(),
  sessionId: z.string().optional(),
});
type Message = z.infer<typeof Message>;

/**
 * One page of a headless Chromium, controlled over the pipe of the DevTools protocol: JSON
 * messages, each terminated by a zero byte.
 */
export class ChromiumPage {
  readonly #folder = mkdtempSync(join(tmpdir(), 'consent-verify-chromium-'));
  readonly #process: ChildProcess;
  readonly #input: Writable;
  readonly #waiting = new Map<number, { resolve: (message: Message) => void; reject: (error: Error) => void }>();
  readonly #events: { readonly method: string; readonly params: unknown }[] = [];
  readonly #listeners: { readonly method: string; readonly listener: (params: unknown) => void }[] = [];
  #lastId = 0;
  #rest = '';
  #session: string | undefined;

  private constructor(executable: string, flags: readonly string[]) {
    this.#process = spawn(executable, [...FLAGS, ...flags, `--user-data-dir=${this.#folder}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const [input, output] = [this.#process.stdio[3], this.#process.stdio[4]];
    if (input === undefined || input === null || output === undefined || output === null) throw new Error('no pipe');
    this.#input = input as Writable;
    (output as Readable).setEncoding('utf8').on('data', (text: string) => this.#receive(text));
    const kill = () => this.#process.kill('SIGKILL');
    process.once('exit', kill);
    this.#process.once('exit', () => {
      process.off('exit', kill);
      for (const { reject } of this.#waiting.values()) reject(new Error('Chromium ended'));
    });
  }

  /** Starts Chromium and opens an empty page. @param flags of the command line, which replace the usual ones of the same name */
  static async open(executable: string, flags: readonly string[] = []): Promise<ChromiumPage> {
    const page = new ChromiumPage(executable, flags);
    const { targetId } = await page.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.send('Target.attachToTarget', { targetId, flatten: true });
    page.#session = z.string().parse(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'DOM']) await page.send(`${domain}.enable`);
    return page;
  }

  /**
   * Sends a command of the protocol.
   * @throws Error with Chromium's message
   */
  async send(
    method: string,
    params: Record<string, unknown> = {},
    session = this.#session,
  ): Promise<Record<string, unknown>> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Message>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#input.write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  /** Returns every event that the browser sent, by method. */
  events(method: string): readonly unknown[] {
    return this.#events.filter((event) => event.method === method).map(({ params }) => params);
  }

  /** Calls a listener with every event of a method from now on. */
  on(method: string, listener: (params: unknown) => void): void {
    this.#listeners.push({ method, listener });
  }

  /** Opens a URL and waits until it is loaded. */
  async goto(url: string): Promise<void> {
    const before = this.events('Page.loadEventFired').length;
    await this.send('Page.navigate', { url });
    await this.until(async () => this.events('Page.loadEventFired').length > before);
  }

  /**
   * Returns the value of an expression in the page; of a promise, once it is resolved.
   * @param options whether it counts as an action of the user; the session of another page
   */
  async evaluate(
    expression: string,
    { userGesture = false, session }: { readonly userGesture?: boolean; readonly session?: string } = {},
  ): Promise<unknown> {
    const options = { expression, returnByValue: true, awaitPromise: true, userGesture };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', options, session);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return z.looseObject({ value: z.unknown().optional() }).parse(result).value;
  }

  /** Attaches to another page that is open, for example one that this page opened. @returns its session */
  async attachTo(url: string): Promise<string> {
    const { targetInfos } = await this.send('Target.getTargets');
    const targets = z.array(z.looseObject({ targetId: z.string(), url: z.string() })).parse(targetInfos);
    const target = targets.find((one) => one.url === url);
    if (target === undefined) throw new Error(`no page is open at ${url}`);
    const { sessionId } = await this.send('Target.attachToTarget', { targetId: target.targetId, flatten: true });
    return z.string().parse(sessionId);
  }

  /** Selects files in the file input with this selector. */
  async chooseFiles(selector: string, files: readonly string[]): Promise<void> {
    const { root } = await this.send('DOM.getDocument');
    const { nodeId } = z.looseObject({ nodeId: z.int() }).parse(root);
    const found = await this.send('DOM.querySelector', { nodeId, selector });
    await this.send('DOM.setFileInputFiles', { nodeId: found.nodeId, files });
  }

  /** Drops files onto a point of the page, as a user does. */
  async dropFiles(x: number, y: number, files: readonly string[]): Promise<void> {
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await this.send('Input.dispatchDragEvent', { type, x, y, data });
  }

  /** Presses and releases a key, as a user does. @param shift whether the shift key is held */
  async press(key: 'Tab' | 'Enter' | ' ' | 'Escape' | 'End' | '/', shift = false): Promise<void> {
    const code = { Tab: 9, Enter: 13, ' ': 32, Escape: 27, End: 35, '/': 191 }[key];
    const text = { Tab: '', Enter: '\r', ' ': ' ', Escape: '', End: '', '/': '/' }[key];
    const event = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0 };
    await this.send('Input.dispatchKeyEvent', { ...event, type: text === '' ? 'rawKeyDown' : 'keyDown', text });
    await this.send('Input.dispatchKeyEvent', { ...event, type: 'keyUp' });
  }

  /** Waits until a condition is true. The time limit of the test applies. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** Returns a PNG of the whole page. */
  async screenshot(): Promise<Uint8Array> {
    const { data } = await this.send('Page.captureScreenshot', { captureBeyondViewport: true });
    return new Uint8Array(Buffer.from(z.string().parse(data), 'base64'));
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#session = undefined;
    await this.send('Browser.close').catch(() => this.#process.kill('SIGKILL'));
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #receive(text: string): void {
    const parts = (this.#rest + text).split('\0');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) {
      const message = Message.parse(JSON.parse(part));
      if (message.id !== undefined) {
        this.#waiting.get(message.id)?.resolve(message);
        this.#waiting.delete(message.id);
      } else if (message.method !== undefined) {
        this.#events.push({ method: message.method, params: message.params });
        for (const { method, listener } of this.#listeners) if (method === message.method) listener(message.params);
      }
    }
  }
}
