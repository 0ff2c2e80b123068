import { HttpClient } from './http.js';
import { Shop } from './shop.js';
import { openTarget, type Target } from './target.js';

/** Options of plans whose limits the suite's own traffic does not reach by accident. */
const ROOMY = ['--rate-limit', '1000000', '--quota', '1000000'];

/** The service under test and the tenants made on it. */
export class World {
  #target: Target | null = null;
  #http: HttpClient | null = null;
  #shop: Promise<Shop> | null = null;
  #other: Promise<Shop> | null = null;

  async open(): Promise<void> {
    this.#target = await openTarget(process.env);
    this.#http = new HttpClient(this.#target.urls);
  }

  async close(): Promise<void> {
    await this.#target?.stop();
  }

  get http(): HttpClient {
    if (this.#http === null) throw new Error('the world is not open');
    return this.#http;
  }

  /** The tenant that most rules use. */
  shop(): Promise<Shop> {
    this.#shop ??= this.seed(...ROOMY);
    return this.#shop;
  }

  /** Another tenant. */
  otherShop(): Promise<Shop> {
    this.#other ??= this.seed(...ROOMY);
    return this.#other;
  }

  /** A tenant of its own. @param options of `admin seed-demo` */
  async seed(...options: readonly string[]): Promise<Shop> {
    if (this.#target === null) throw new Error('the world is not open');
    return new Shop(this.http, await this.#target.seed(options));
  }
}
