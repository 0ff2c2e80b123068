import { request as requestHttp } from 'node:http';
import os from 'node:os';
import { performance } from 'node:perf_hooks';
import * as z from 'zod';
import { signedHeaders } from '../test/support/signed-requests.js';
import { FloodCommand, type FloodResult } from './messages.js';

// A stranger who asks as fast as its connections allow, in a process of its own. Addresses are stated
// in X-Forwarded-For, as by a proxy that the service trusts. Strangers use processors of their own:
// here, only what the service and its load leave of the two.
os.setPriority(os.constants.priority.PRIORITY_LOW);

/** A text that is sent slowly leaves in so many pieces a second. */
const PIECES_A_SECOND = 4;

class Flood {
  private readonly statuses: Record<string, number> = {};
  private readonly end: number;
  private sent = 0;

  constructor(private readonly command: FloodCommand) {
    this.end = performance.now() + command.ms;
  }

  async run(): Promise<FloodResult> {
    const before = process.cpuUsage();
    await Promise.all(
      Array.from({ length: this.command.connections }, async () => {
        while (performance.now() < this.end) await this.send();
      }),
    );
    const { user, system } = process.cpuUsage(before);
    return { statuses: this.statuses, cpuMs: (user + system) / 1000 };
  }

  /** One request, until it is answered, its client leaves, or the flood is over. */
  private send(): Promise<void> {
    const { port, networks, requests, signedBy, leaveAfterMs, bytesASecond } = this.command;
    const number = this.sent++;
    const { method, path, headers, body } = requests[number % requests.length] ?? {
      method: 'GET',
      path: '/',
      headers: {},
    };
    // What must be new each time.
    const text = body?.replaceAll('{new}', `${process.pid}-${number}`);
    return new Promise((resolve) => {
      const request = requestHttp(
        {
          host: '127.0.0.1',
          port,
          method,
          path,
          agent: false,
          headers: {
            ...headers,
            'x-forwarded-for': `2001:db8:${(number % networks).toString(16)}::1`,
            ...(text !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(text),
            }),
            ...(signedBy !== null && text !== undefined && signedHeaders(signedBy, path, text)),
          },
        },
        (response) => {
          this.note(String(response.statusCode));
          response.once('close', resolve);
          if (bytesASecond === null || text !== undefined) response.resume();
          else void slowly(bytesASecond, (bytes) => response.read(bytes) !== null || !response.readableEnded);
        },
      );
      const leave = (what: string): void => {
        if (!request.destroyed) this.note(what);
        request.destroy();
      };
      const timer = setTimeout(() => leave('left'), leaveAfterMs ?? Math.max(0, this.end - performance.now()));
      request.once('error', () => this.note('connection failed'));
      request.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      if (text === undefined || bytesASecond === null) {
        request.end(text);
        return;
      }
      let at = 0;
      void slowly(bytesASecond, (bytes) => {
        request.write(text.slice(at, at + bytes));
        at += bytes;
        return at < text.length && !request.destroyed;
      });
    });
  }

  private note(what: string): void {
    this.statuses[what] = (this.statuses[what] ?? 0) + 1;
  }
}

/** Moves some bytes at a time until there are no more. */
async function slowly(bytesASecond: number, move: (bytes: number) => boolean): Promise<void> {
  while (move(Math.ceil(bytesASecond / PIECES_A_SECOND))) {
    await new Promise((resolve) => setTimeout(resolve, 1000 / PIECES_A_SECOND));
  }
}

process.on('message', (message) => {
  const command = z.parse(FloodCommand, message);
  void new Flood(command).run().then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
