import * as z from 'zod';
import { OPT_OUT_SIGNALS } from '../../../schemas/law/signals.js';
import { withAnySignal } from '../../platform/background/signals.js';
import type { EgressPolicy } from '../../platform/net/reach.js';
import { type DevTools, startBrowser } from './browser.js';
import { type GuardedProxy, startGuardedProxy } from './guarded-proxy.js';
import { answerInPlace, PageRequest } from './recorded-nowhere.js';
import {
  type Faults,
  LIMITS,
  leftDomain,
  noAnswer,
  notLoaded,
  reasonOf,
  ScanFailed,
  type ScanTarget,
  type SetCookie,
  type StoredName,
  TOO_LONG,
  VISIT_TIMES,
  type Visit,
  type Visitor,
  type VisitPage,
  type VisitTimes,
} from './visit.js';

const Ignored = z.unknown();

/** Frames and workers are stopped until the scan follows them. */
const FOLLOWED = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };

/** The signals as properties of pages and workers (Global Privacy Control §3.2). */
const SIGNAL = OPT_OUT_SIGNALS.map(
  ({ property }) => `Object.defineProperty(Object.getPrototypeOf(navigator), '${property}', {
  get: () => true, enumerable: true, configurable: true });`,
).join('\n');
/** The signals as headers of requests (Global Privacy Control §3.1). */
const SIGNAL_HEADERS = Object.fromEntries(OPT_OUT_SIGNALS.map(({ header, value }) => [header, value]));

/** Makes the browser report requests without bodies and store no responses. */
const NETWORK = { maxPostDataSize: 0, maxTotalBufferSize: 0, maxResourceBufferSize: 0 };

const Paused = z.looseObject({
  requestId: z.string(),
  frameId: z.string(),
  resourceType: z.string(),
  request: PageRequest,
});
const Requested = z.looseObject({ request: z.looseObject({ url: z.string() }) });
const Responded = z.looseObject({
  type: z.string(),
  frameId: z.string().optional(),
  response: z.looseObject({ url: z.string(), status: z.number() }),
});
const Attached = z.looseObject({ sessionId: z.string() });
const Followed = Attached.extend({ targetInfo: z.looseObject({ type: z.string() }) });
const Navigated = z.looseObject({ errorText: z.string().optional() });
const Cookies = z.looseObject({
  cookies: z.array(
    z.looseObject({
      name: z.string(),
      domain: z.string(),
      path: z.string(),
      expires: z.number(),
      httpOnly: z.boolean(),
      secure: z.boolean(),
      session: z.boolean(),
    }),
  ),
});
const Items = z.looseObject({ entries: z.array(z.array(z.string())) });
const Databases = z.looseObject({ databaseNames: z.array(z.string()) });

/** Creates visits in a real browser. @param executable path of Chromium or Chrome */
export function visitByBrowser(
  executable: string,
  reach: EgressPolicy,
  faults: Faults,
  times: VisitTimes = VISIT_TIMES,
): VisitPage {
  return (target, visitor, signal) =>
    withAnySignal([signal, AbortSignal.timeout(times.visitMs)], async (limit) => {
      const proxy = await startGuardedProxy(reach, faults);
      const page = new Page(target, visitor, times, faults);
      try {
        const browser = await startBrowser({
          executable,
          proxyPort: proxy.port,
          onEvent: (method, params, session) => page.handle(method, params, session),
          faults,
          limit,
        });
        try {
          const visit = await page.visit(browser.tools, proxy);
          return proxy.isExhausted() ? { ...visit, isComplete: false } : visit;
        } finally {
          await browser.close();
        }
      } catch (error) {
        if (limit.aborted) throw new ScanFailed('The page did not load in time.', { cause: error });
        throw error;
      } finally {
        await proxy.close();
      }
    });
}

/** One page of a browser, and the facts that its events report. */
export class Page {
  readonly #hosts = new Set<string>();
  #browser: DevTools | null = null;
  #session: string | null = null;
  #frame = '';
  #response: { readonly url: string; readonly status: number } | null = null;
  #left: string | null = null;
  #onLoad: () => void = () => undefined;

  constructor(
    private readonly target: ScanTarget,
    private readonly visitor: Visitor,
    private readonly times: VisitTimes,
    private readonly faults: Faults,
  ) {}

  async visit(browser: DevTools, proxy: Pick<GuardedProxy, 'failureOf'>): Promise<Visit> {
    this.#browser = browser;
    // Of the whole browser: no frame, worker, beacon or request that outlives its page is sent without being seen.
    await browser.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, Ignored);
    // Shared workers belong to no page.
    await browser.send('Target.setAutoAttach', { ...FOLLOWED, filter: [{ type: 'shared_worker' }] }, Ignored);
    const { targetId } = await browser.send(
      'Target.createTarget',
      { url: 'about:blank' },
      z.looseObject({ targetId: z.string() }),
    );
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true }, Attached);
    this.#session = sessionId;
    // The id of a page's main frame is that of its target.
    this.#frame = targetId;
    await browser.send('Browser.setDownloadBehavior', { behavior: 'deny' }, Ignored);
    await this.#send('Page.enable');
    await this.#send('Network.enable', NETWORK);
    await this.#send('Target.setAutoAttach', FOLLOWED);
    if (this.visitor.isSignalled) await this.#send('Page.addScriptToEvaluateOnNewDocument', { source: SIGNAL });
    const { url } = this.target;
    const { cookie } = this.visitor;
    if (cookie !== null) await this.#send('Network.setCookie', { ...cookie, url: url.href, sameSite: 'Lax' });

    const loaded = new Promise<boolean>((resolve) => {
      this.#onLoad = () => resolve(true);
      setTimeout(() => resolve(false), this.times.loadMs).unref();
    });
    const { answerMs } = this.times;
    const navigated = await Promise.race([
      browser.send('Page.navigate', { url: url.href }, Navigated, sessionId),
      new Promise<null>((resolve) => setTimeout(resolve, answerMs, null).unref()),
    ]);
    if (this.#left !== null) throw leftDomain(this.#left);
    if (navigated === null) throw noAnswer(answerMs);
    const { errorText } = navigated;
    if (errorText !== undefined || this.#response === null)
      throw notLoaded(proxy.failureOf(url.hostname) ?? reasonOf(errorText));
    const isLoaded = await Promise.race([loaded, browser.ended]);
    await Promise.race([new Promise((resolve) => setTimeout(resolve, this.times.settleMs)), browser.ended]);
    if (this.#left !== null) throw leftDomain(this.#left);
    const { url: finalUrl, status } = this.#response;
    if (finalUrl.length > LIMITS.urlLength) throw notLoaded(TOO_LONG);
    const cookies = await this.#cookies();
    const storage = await this.#storage(new URL(finalUrl).origin);
    const isAll = Math.max(cookies.length, storage.length, this.#hosts.size) <= LIMITS.items;
    return {
      finalUrl,
      status,
      cookies: cookies.slice(0, LIMITS.items),
      storage: storage.slice(0, LIMITS.items),
      hosts: [...this.#hosts].sort().slice(0, LIMITS.items),
      isComplete: isLoaded && isAll,
    };
  }

  handle(method: string, params: unknown, session: string | undefined): void {
    if (method === 'Fetch.requestPaused') this.#decide(Paused.parse(params));
    else if (method === 'Network.requestWillBeSent') this.#note(Requested.parse(params).request.url);
    else if (method === 'Network.responseReceived') this.#respond(Responded.parse(params), session);
    else if (method === 'Target.attachedToTarget') this.#follow(Followed.parse(params));
    else if (method === 'Page.loadEventFired' && session === this.#session) this.#onLoad();
    else if (method === 'Page.javascriptDialogOpening')
      this.#fire('Page.handleJavaScriptDialog', { accept: false }, session);
  }

  /**
   * The page itself stays on the verified domain; what it embeds may come from elsewhere. What would record something
   * about a person is answered here, and never sent: if answering fails, it waits until the browser ends.
   */
  #decide({ requestId, frameId, resourceType, request }: z.infer<typeof Paused>): void {
    const isPage = resourceType === 'Document' && frameId === this.#frame;
    const answer = answerInPlace(request);
    if (isPage && !(URL.canParse(request.url) && this.target.allows(new URL(request.url)))) {
      this.#left ??= request.url;
      this.#onLoad();
      this.#fire('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    } else if (answer === 'fail') this.#fire('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    else if (answer !== null) this.#fire('Fetch.fulfillRequest', { requestId, ...answer });
    else this.#fire('Fetch.continueRequest', { requestId, ...this.#headersFor(request) });
  }

  #headersFor({ headers }: PageRequest): object {
    if (!this.visitor.isSignalled) return {};
    const all = Object.entries({ ...headers, ...SIGNAL_HEADERS });
    return { headers: all.map(([name, value]) => ({ name, value })) };
  }

  #note(text: string): void {
    if (!URL.canParse(text)) return;
    const { protocol, hostname } = new URL(text);
    // One item more than is reported, so that the report can say that something was omitted.
    if (/^(?:https?|wss?):$/.test(protocol) && hostname.length <= LIMITS.hostLength && this.#hosts.size <= LIMITS.items)
      this.#hosts.add(hostname);
  }

  #respond({ type, frameId, response }: z.infer<typeof Responded>, session: string | undefined): void {
    if (type !== 'Document' || session !== this.#session || frameId !== this.#frame) return;
    // A page can navigate to a blob of its own. It keeps the address that it was loaded from.
    if (/^https?:/.test(response.url)) this.#response = response;
  }

  /** Attaches to a frame or worker in a separate process, whose requests also count. */
  #follow({ sessionId: session, targetInfo: { type } }: z.infer<typeof Followed>): void {
    if (session === this.#session || this.#session === null) return;
    this.#fire('Network.enable', NETWORK, session);
    this.#fire('Target.setAutoAttach', FOLLOWED, session);
    if (this.visitor.isSignalled && type === 'iframe') {
      this.#fire('Page.enable', {}, session);
      this.#fire('Page.addScriptToEvaluateOnNewDocument', { source: SIGNAL }, session);
    } else if (this.visitor.isSignalled) this.#fire('Runtime.evaluate', { expression: SIGNAL }, session);
    this.#fire('Runtime.runIfWaitingForDebugger', {}, session);
  }

  async #cookies(): Promise<SetCookie[]> {
    const { cookies } = (await this.#browser?.send('Storage.getCookies', {}, Cookies)) ?? { cookies: [] };
    const now = Date.now() / 1000;
    return cookies.map(({ name, domain, path, expires, httpOnly, secure, session }) => ({
      name: name.slice(0, LIMITS.nameLength),
      domain: domain.replace(/^\./, '').slice(0, LIMITS.hostLength),
      path: path.slice(0, LIMITS.nameLength),
      durationSeconds: session ? null : Math.max(0, Math.round(expires - now)),
      isHttpOnly: httpOnly,
      isSecure: secure,
    }));
  }

  /** Reads storage through the protocol, because a page can replace the functions that its scripts see. */
  async #storage(securityOrigin: string): Promise<StoredName[]> {
    const names: StoredName[] = [];
    for (const [kind, isLocalStorage] of [
      ['local_storage', true],
      ['session_storage', false],
    ] as const) {
      const storageId = { securityOrigin, isLocalStorage };
      const { entries } = await this.#send('DOMStorage.getDOMStorageItems', { storageId }, Items);
      names.push(...entries.map(([name = '']) => ({ kind, name: name.slice(0, LIMITS.nameLength) })));
    }
    const { databaseNames } = await this.#send('IndexedDB.requestDatabaseNames', { securityOrigin }, Databases);
    names.push(
      ...databaseNames.map((name) => ({ kind: 'indexed_db', name: name.slice(0, LIMITS.nameLength) }) as const),
    );
    return names;
  }

  #send(method: string, params?: object): Promise<unknown>;
  #send<T>(method: string, params: object, result: z.ZodType<T>): Promise<T>;
  async #send(method: string, params: object = {}, result: z.ZodType = Ignored): Promise<unknown> {
    if (this.#browser === null || this.#session === null) throw new Error('the page is not open');
    return this.#browser.send(method, params, result, this.#session);
  }

  /** Sends a command in response to an event. Its frame may be gone by then, so failures are ignored. */
  #fire(method: string, params: object, session?: string): void {
    this.#browser?.send(method, params, Ignored, session).catch((error: unknown) => {
      if (!(error instanceof ScanFailed)) this.faults.add();
    });
  }
}
