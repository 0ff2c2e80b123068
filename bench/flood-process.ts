import net from 'node:net';
import os from 'node:os';
import { z } from 'zod';
import { cookieConsent, signedRequestBytes } from './consents.js';
import { FloodCommand, type FloodResult } from './messages.js';

// A stranger who asks as fast as the connections allow, in a process of its own. Addresses are
// stated in X-Forwarded-For, as by a proxy that the service trusts. Strangers use processors of
// their own: here, only what the service and its load leave of the two.
os.setPriority(os.constants.priority.PRIORITY_LOW);
const BATCH_OF = 100;
/** Just below the limit of the metadata of one consent. */
const METADATA_CHARACTERS = 15_000;

class Flood {
  private readonly statuses: Record<string, number> = {};
  private isOver = false;
  private sent = 0;

  constructor(private readonly command: FloodCommand) {}

  async run(): Promise<FloodResult> {
    const { ms, connections } = this.command;
    const before = process.cpuUsage();
    const all = Array.from({ length: connections }, () => this.connection());
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.isOver = true;
    await Promise.all(all);
    const { user, system } = process.cpuUsage(before);
    return { statuses: this.statuses, cpuMs: (user + system) / 1000 };
  }

  private async connection(): Promise<void> {
    while (!this.isOver) await this.untilClosed();
  }

  /** Sends one request after another until the flood is over, or the service closes the connection. */
  private untilClosed(): Promise<void> {
    return new Promise((resolve) => {
      const socket = net.connect({ port: this.command.port, host: '127.0.0.1', noDelay: true });
      let received = 0;
      let head = '';
      let expected: number | null = null;
      socket.on('connect', () => socket.write(this.request()));
      socket.on('error', () => this.note('connection failed'));
      socket.on('close', () => resolve());
      socket.on('data', (chunk) => {
        received += chunk.length;
        if (expected === null) {
          head += chunk.toString('latin1');
          const end = head.indexOf('\r\n\r\n');
          if (end === -1) return;
          const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end + 2))?.[1];
          if (length === undefined) throw new Error('an answer states no length');
          expected = end + 4 + Number(length);
        }
        if (received < expected) return;
        this.note(head.slice(9, 12));
        received = 0;
        head = '';
        expected = null;
        if (this.isOver) socket.destroy();
        else socket.write(this.request());
      });
    });
  }

  private request(): Buffer {
    const { paths, submit, networks, port } = this.command;
    const number = this.sent;
    this.sent += 1;
    if (submit !== null) {
      const consents = Array.from({ length: BATCH_OF }, () => ({
        ...cookieConsent(submit.documentVersionId),
        metadata: { note: 'x'.repeat(METADATA_CHARACTERS) },
        extra_fields: { note: 'y'.repeat(METADATA_CHARACTERS) },
      }));
      return signedRequestBytes(port, '/tool/v1/consents/batch', submit.apiKey, { consents });
    }
    const address = `2001:db8:${(number % networks).toString(16)}::1`;
    return Buffer.from(
      [
        `GET ${paths[number % paths.length] ?? '/'} HTTP/1.1`,
        `host: 127.0.0.1:${port}`,
        'accept-encoding: identity',
        `x-forwarded-for: ${address}`,
        '\r\n',
      ].join('\r\n'),
    );
  }

  private note(what: string): void {
    this.statuses[what] = (this.statuses[what] ?? 0) + 1;
  }
}

process.on('message', (message) => {
  const command = z.parse(FloodCommand, message);
  void new Flood(command).run().then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
