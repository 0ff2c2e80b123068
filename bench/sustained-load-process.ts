import net from 'node:net';
import { cookieConsent, signedRequestBytes } from './consents.js';
import { latenciesOf } from './latencies.js';
import { LoadCommand, type SustainedResult } from './messages.js';

// The generator of a sustained load in a separate process. It sends prepared requests at a rate, or
// as fast as its connections allow, and measures from the time at which each request was due.
const TICK_MS = 4;

interface Waiting {
  readonly socket: net.Socket;
  dueAt: number;
  received: string;
}

class Generator {
  private requests: readonly Buffer[] = [];
  private next = 0;
  private port = 0;
  private connections = 0;
  private rate: number | null = null;
  private readonly idle: Waiting[] = [];
  private busy = 0;
  private isOver = true;
  private readonly accepted: number[] = [];
  private readonly refused: number[] = [];
  private readonly others: Record<string, number> = {};
  private unsent = 0;

  prepare(command: Extract<LoadCommand, { kind: 'prepare' }>): void {
    const { port, targets, requests, connections } = command;
    this.port = port;
    this.connections = connections;
    this.next = 0;
    this.requests = Array.from({ length: requests }, (_, i) => {
      const { apiKey, documentVersionId } = targets[i % targets.length] ?? { apiKey: '', documentVersionId: '' };
      return signedRequestBytes(port, '/tool/v1/consents', apiKey, cookieConsent(documentVersionId));
    });
  }

  setRate(rate: number | null): void {
    this.rate = rate;
    if (rate === null) while (this.idle.length > 0) this.send(performance.now());
  }

  async run(ms: number, rate: number | null): Promise<SustainedResult> {
    const sockets = await Promise.all(Array.from({ length: this.connections }, () => this.connect()));
    this.accepted.length = 0;
    this.refused.length = 0;
    for (const name of Object.keys(this.others)) delete this.others[name];
    this.unsent = 0;
    this.isOver = false;
    const before = process.cpuUsage();
    const started = performance.now();
    this.setRate(rate);
    await this.pace(started, ms);
    this.isOver = true;
    while (this.busy > 0) await sleep(TICK_MS);
    const { user, system } = process.cpuUsage(before);
    for (const socket of sockets) socket.destroy();
    this.idle.length = 0;
    return {
      ms,
      cpuMs: (user + system) / 1000,
      accepted: this.accepted.length,
      refused: this.refused.length,
      others: { ...this.others },
      unsent: this.unsent,
      acceptedLatency: latenciesOf(this.accepted),
      refusedLatency: latenciesOf(this.refused),
    };
  }

  /** Sends what is due at each tick. A late tick sends several at once, as waiting visitors would. */
  private async pace(started: number, ms: number): Promise<void> {
    let due = started;
    for (let now = started; now - started < ms; now = performance.now()) {
      if (this.rate === null) due = now;
      else {
        const step = 1000 / this.rate;
        for (; due <= now; due += step) this.send(due);
      }
      await sleep(TICK_MS);
    }
  }

  private send(dueAt: number): void {
    const request = this.requests[this.next];
    const connection = this.idle.pop();
    if (request === undefined || connection === undefined) {
      if (connection !== undefined) this.idle.push(connection);
      this.unsent += 1;
      return;
    }
    this.next += 1;
    this.busy += 1;
    connection.dueAt = dueAt;
    connection.socket.write(request);
  }

  private connect(): Promise<net.Socket> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port: this.port, host: '127.0.0.1', noDelay: true });
      const connection: Waiting = { socket, dueAt: 0, received: '' };
      socket.on('error', reject);
      socket.once('connect', () => {
        this.idle.push(connection);
        resolve(socket);
      });
      socket.on('close', () => {
        const place = this.idle.indexOf(connection);
        if (place !== -1) this.idle.splice(place, 1);
        if (connection.dueAt !== 0) this.busy -= 1;
        if (!this.isOver) this.note('connection closed');
      });
      socket.on('data', (chunk) => this.receive(connection, chunk.toString('latin1')));
    });
  }

  private receive(connection: Waiting, chunk: string): void {
    connection.received += chunk;
    const { received, dueAt } = connection;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = received.slice(0, headEnd + 2);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (received.length < headEnd + 4 + length) return;
    const status = received.slice(9, 12);
    const ms = performance.now() - dueAt;
    const code = /"code":"(\w+)"/.exec(received.slice(headEnd))?.[1] ?? 'no code';
    const isOverload = status === '429' || (status === '503' && code === 'QUEUE_OVERLOADED');
    if (status === '202') this.accepted.push(ms);
    else if (isOverload && /\r\nretry-after: *\d+\r\n/i.test(head)) this.refused.push(ms);
    else this.note(`${status} ${code}`);
    connection.received = '';
    connection.dueAt = 0;
    this.busy -= 1;
    this.idle.push(connection);
    if (this.rate === null && !this.isOver) this.send(performance.now());
  }

  private note(what: string): void {
    this.others[what] = (this.others[what] ?? 0) + 1;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const generator = new Generator();
process.on('message', (message) => {
  const command = LoadCommand.parse(message);
  if (command.kind === 'prepare') {
    generator.prepare(command);
    process.send?.('ready');
  } else if (command.kind === 'rate') generator.setRate(command.rate);
  else void generator.run(command.ms, command.rate).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
