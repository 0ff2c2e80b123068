import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A DNS server (RFC 1035) on loopback that serves only TXT records. */
export interface TestDnsServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** Records by name in lower case; each record is a list of strings. */
  readonly records: Map<string, readonly (readonly string[])[]>;
  /** While true, the server does not respond. */
  isSilent: boolean;
  close(): Promise<void>;
}

const TXT = 16;
const NXDOMAIN = 3;

export async function startDnsServer(): Promise<TestDnsServer> {
  const socket = createSocket('udp4');
  const server: TestDnsServer = {
    address: '',
    records: new Map(),
    isSilent: false,
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (query, peer) => {
    if (!server.isSilent) socket.send(answerTo(query, server.records), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return Object.assign(server, { address: `127.0.0.1:${socket.address().port}` });
}

function answerTo(query: Buffer, records: TestDnsServer['records']): Buffer {
  const { name, end } = nameAt(query, 12);
  const isTxt = query.readUInt16BE(end) === TXT;
  const found = records.get(name.toLowerCase());
  const answers = isTxt ? (found ?? []) : [];
  const header = Buffer.from(query.subarray(0, 12));
  // An authoritative response; recursion as requested.
  header.writeUInt16BE(0x8400 | (query.readUInt16BE(2) & 0x0100) | 0x0080 | (found === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(12, end + 4), ...answers.map(txtRecord)]);
}

function txtRecord(strings: readonly string[]): Buffer {
  const data = Buffer.concat(
    strings.map((text) => Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)])),
  );
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TXT, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function nameAt(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let offset = start;
  for (let length = message.readUInt8(offset); length !== 0; length = message.readUInt8(offset)) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.'), end: offset + 1 };
}
