import { once } from 'node:events';
import http2 from 'node:http2';

const GOSSIP = '/event_store.client.gossip.Gossip/Read';
const UNAVAILABLE = '14';
const LEADER = 8;
const UNKNOWN = 2;

/**
 * A node of a cluster, as far as a client's discovery sees it: it answers gossip, and keeps every
 * other call waiting until the test ends it. A cluster without a quorum has no leader.
 */
export class LeaderlessCluster {
  /** Calls that wait, by the last part of their path. */
  readonly #waiting = new Map<string, http2.ServerHttp2Stream[]>();
  readonly #sessions = new Set<http2.ServerHttp2Session>();
  hasLeader = true;

  private constructor(private readonly server: http2.Http2Server) {
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    server.on('stream', (stream, headers) => this.#serve(stream, String(headers[':path'])));
  }

  static async start(): Promise<LeaderlessCluster> {
    const server = http2.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LeaderlessCluster(server);
  }

  /** @param searchMs about how long a client looks for a leader, in milliseconds */
  url(searchMs: number): string {
    return `esdb+discover://127.0.0.1:${this.#port()}?tls=false&maxDiscoverAttempts=2&discoveryInterval=${searchMs / 2}`;
  }

  waiting(call: string): number {
    return this.#waiting.get(call)?.length ?? 0;
  }

  /** Ends the oldest waiting call as a node does that cannot serve it any more. */
  failOne(call: string): void {
    const stream = this.#waiting.get(call)?.shift();
    if (stream === undefined) throw new Error(`no call ${call} waits`);
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAVAILABLE, 'grpc-message': 'no quorum' },
      { endStream: true },
    );
  }

  /** Cuts every connection. */
  cut(): void {
    for (const session of this.#sessions) session.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  #serve(stream: http2.ServerHttp2Stream, path: string): void {
    stream.on('error', () => undefined);
    stream.resume();
    if (path !== GOSSIP) {
      const call = path.split('/').at(-1) ?? '';
      this.#waiting.set(call, [...(this.#waiting.get(call) ?? []), stream]);
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(frame(clusterInfo(this.hasLeader ? LEADER : UNKNOWN, this.#port())));
  }

  #port(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the node does not listen');
    return address.port;
  }
}

/** A message of gRPC: not compressed, with its length. */
function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** `ClusterInfo` of gossip.proto with one member that is alive. */
function clusterInfo(state: number, port: number): Buffer {
  const endPoint = Buffer.concat([bytes(1, Buffer.from('127.0.0.1')), number(2, port)]);
  const id = bytes(2, Buffer.from('6ecd8ab5-4bd7-4b5c-9f2e-1b1de9c43d2c'));
  const member = Buffer.concat([bytes(1, id), number(2, 1), number(3, state), number(4, 1), bytes(5, endPoint)]);
  return bytes(1, member);
}

function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...out, rest]);
    out.push((rest & 0x7f) | 0x80);
  }
}
