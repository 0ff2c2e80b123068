import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The whole message, decoded from quoted-printable. */
  readonly text: string;
}

/** A real SMTP server on a port of this machine, which keeps what it receives. */
export interface TestMailServer {
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Number of connections so far. */
  connections(): number;
  /** The response to each recipient from now on: 250 accepts. */
  answerRecipientsWith(code: number): void;
  close(): Promise<void>;
}

export async function startMailServer(): Promise<TestMailServer> {
  const mails: ReceivedMail[] = [];
  let response = 250;
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
    onRcptTo: ({ address }, _session, callback) => {
      if (response === 250) return callback();
      callback(Object.assign(new Error(`no mail for ${address}`), { responseCode: response }));
    },
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = decoded(Buffer.concat(chunks));
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
        callback();
      });
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    connections: () => connections,
    answerRecipientsWith: (code) => {
      response = code;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function decoded(message: Buffer): string {
  const bytes = message
    .toString('latin1')
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
