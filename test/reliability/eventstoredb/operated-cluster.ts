import { exec } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as z from 'zod';

const Gossip = z.object({
  members: z.array(z.looseObject({ httpEndPointPort: z.int(), state: z.string(), isAlive: z.boolean() })),
});

const GOSSIP_TIMEOUT_MS = 1_000;
const ASK_AGAIN_MS = 100;

/** A cluster of EventStoreDB with TLS, whose nodes a shell command kills and starts. */
export class OperatedCluster {
  readonly #nodes: readonly URL[];
  readonly #ca: Buffer;

  /**
   * @param url connection string that names every node, with `tlsCAFile`
   * @param command called with `kill` or `start`, and the number of a node in `url` from 1; it
   *   returns at once, and kills as a power failure would
   */
  constructor(
    readonly url: string,
    private readonly command: string,
  ) {
    const [, hosts = '', query = ''] = /^esdb:\/\/(?:[^@]*@)?([^/?]+)\/?\?(.*)$/.exec(url) ?? [];
    this.#nodes = hosts.split(',').map((host) => new URL(`https://${host}`));
    const ca = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'tlscafile');
    if (this.#nodes.length < 3 || ca === undefined) {
      throw new Error('EVENTSTORE_CLUSTER_URL must name three nodes, and the file of their authority as tlsCAFile');
    }
    this.#ca = readFileSync(ca[1]);
  }

  /** Numbers of all nodes. */
  get all(): readonly number[] {
    return this.#nodes.map((_, i) => i + 1);
  }

  /** Kills nodes at the same time. */
  async kill(...nodes: readonly number[]): Promise<void> {
    await this.#operate('kill', nodes);
  }

  async start(...nodes: readonly number[]): Promise<void> {
    await this.#operate('start', nodes);
  }

  /** Resolves with the number of the leader, as soon as there is one. */
  async leader(): Promise<number> {
    for (;;) {
      for (const node of this.all) {
        if (await this.#leads(node)) return node;
      }
      await sleep(ASK_AGAIN_MS);
    }
  }

  async #operate(verb: 'kill' | 'start', nodes: readonly number[]): Promise<void> {
    // A server interprets every variable EVENTSTORE_… as a setting, and refuses unknown ones.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EVENTSTORE_')));
    await Promise.all(nodes.map((node) => promisify(exec)(`${this.command} ${verb} ${node}`, { env })));
  }

  /** Asks the node itself: the others take a killed leader for one until they miss it. */
  async #leads(node: number): Promise<boolean> {
    const url = this.#nodes[node - 1];
    if (url === undefined) return false;
    const gossip = await this.#gossipOf(url).catch(() => null);
    const leader = gossip?.members.find(({ state, isAlive }) => isAlive && state === 'Leader');
    return leader?.httpEndPointPort === Number(url.port);
  }

  #gossipOf(url: URL): Promise<z.infer<typeof Gossip>> {
    return new Promise((resolve, reject) => {
      const asking = request(new URL('/gossip', url), { ca: this.#ca, timeout: GOSSIP_TIMEOUT_MS, agent: false });
      asking.on('timeout', () => asking.destroy(new Error('no answer')));
      asking.on('error', reject);
      asking.on('response', (response) => {
        text(response)
          .then((body) => resolve(Gossip.parse(JSON.parse(body))))
          .catch(reject);
      });
      asking.end();
    });
  }
}
