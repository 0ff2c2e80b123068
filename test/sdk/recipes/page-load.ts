import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import * as z from 'zod';
import type { ChromiumPage } from '../../support/chromium.js';
import { figures } from '../../support/figures.js';

const FIGURES = new URL('../../../docs/benchmarks.md', import.meta.url);

const Sent = z.looseObject({ requestId: z.string(), request: z.looseObject({ url: z.string() }) });
const Ended = z.looseObject({ requestId: z.string() });
const Finished = z.looseObject({ requestId: z.string(), encodedDataLength: z.number() });

/** What went over the network: a request that the browser's cache answered has no bytes, and does not count. */
export interface Load {
  readonly requests: number;
  /** Of answers, with their headers. */
  readonly bytes: number;
}

/** Measures what a page loads. */
export class PageLoad {
  #from = 0;

  constructor(private readonly page: ChromiumPage) {}

  /** Begins with the next request. */
  begin(): void {
    this.#from = this.page.events('Network.requestWillBeSent').length;
  }

  /** What began until now. */
  untilNow(): Promise<Load> {
    return this.#load(this.#sent());
  }

  /** What began before the first request for one of these addresses. */
  async until(isTag: (url: string) => boolean): Promise<Load> {
    const sent = this.#sent();
    return this.#load(
      sent.slice(
        0,
        sent.findIndex(({ request }) => isTag(request.url)),
      ),
    );
  }

  #sent(): readonly z.infer<typeof Sent>[] {
    return (
      z
        .array(Sent)
        .parse(this.page.events('Network.requestWillBeSent').slice(this.#from))
        // Browsers ask for the icon when they like.
        .filter(({ request }) => request.url.startsWith('http') && !request.url.endsWith('/favicon.ico'))
    );
  }

  async #load(sent: readonly z.infer<typeof Sent>[]): Promise<Load> {
    const ids = new Set(sent.map(({ requestId }) => requestId));
    const finished = () => z.array(Finished).parse(this.page.events('Network.loadingFinished'));
    const failed = () => this.page.events('Network.loadingFailed');
    const isOver = (id: string) =>
      z
        .array(Ended)
        .parse([...finished(), ...failed()])
        .some(({ requestId }) => requestId === id);
    await this.page.until(async () => [...ids].every(isOver));
    const loaded = finished().filter(({ requestId, encodedDataLength }) => ids.has(requestId) && encodedDataLength > 0);
    return { requests: loaded.length, bytes: loaded.reduce((sum, one) => sum + one.encodedDataLength, 0) };
  }
}

const kilobytes = ({ requests, bytes }: Load): string => `${requests} | ${(bytes / 1000).toFixed(1)} kB`;

/** Compares what a page loaded with its row of the documentation, or writes that row. */
export function checkLoads(title: string, loads: readonly Load[]): void {
  const text = readFileSync(FIGURES, 'utf8');
  const row = `| ${[title, ...loads.map(kilobytes)].join(' | ')} |`;
  const stated = text.split('\n').find((line) => line.startsWith(`| ${title} | `) && line.endsWith(' kB |')) ?? '';
  figures(title, { row });
  if (process.env.UPDATE_DOCUMENTS === '1') {
    writeFileSync(FIGURES, text.replace(stated, row));
    return;
  }
  const numbers = (line: string) => [...line.matchAll(/\| ([\d.]+)/g)].map(([, number]) => Number(number));
  // Other texts of the site, or another version of a framework, change a little; another file changes more. Of a visitor
  // who comes back, one file more may begin before the tag does.
  const more = [0, 0.5, 1, 6, 1, 6];
  const most = numbers(stated).map((number, i) => (i % 2 === 0 ? number : number * 1.1) + (more[i] ?? 0));
  numbers(row).forEach((number, i) => {
    expect(number, `docs/benchmarks.md says ${stated}, and this was ${row}`).toBeLessThanOrEqual(most[i] ?? 0);
  });
}
