import { createSocket } from 'node:dgram';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Guard, startBrowser } from '../../../src/tenancy/scans/browser.js';
import { Faults } from '../../../src/tenancy/scans/visit.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { until } from '../../support/wait.js';
import { startSite, type TestSite } from './scanned-shop.js';

/** Ways on which a page could send something that does not pass the proxy. */
const WAYS = ['stun', 'namedStun', 'transport', 'quic', 'connection'] as const;
type Way = (typeof WAYS)[number];

const canRun = chromiumPath !== undefined;
const never = new AbortController().signal;

/** Tries what it can, and ends when the browser has given up each. */
const tries = (ports: Readonly<Record<string, number>>): string => `Promise.all([
  ...['127.0.0.1:${ports.stun}', 'localhost:${ports.namedStun}'].map((server) => new Promise((resolve) => {
    const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + server }] });
    connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve();
    connection.createDataChannel('x');
    connection.setLocalDescription();
  })),
  new WebTransport('https://127.0.0.1:${ports.transport}/').ready.catch(() => 0),
]).then(() => true)`;

/** A port that counts what arrives. */
async function udpPort(): Promise<{ readonly port: number; readonly packets: Buffer[]; close(): void }> {
  const socket = createSocket('udp4');
  const packets: Buffer[] = [];
  socket.on('message', (packet) => packets.push(packet));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, packets, close: () => socket.close() };
}

describe.skipIf(!canRun)(titleNeeding('Chromium', canRun, 'each flag that keeps the browser to its proxy'), () => {
  /** A page. Each request that reaches it came without the proxy. */
  let site: TestSite;
  /** A proxy that answers every request itself. */
  let proxy: TestSite;
  beforeAll(async () => {
    site = await startSite('127.0.0.1', (_, response) => response.end('<h1>Shop</h1>'));
    proxy = await startSite('127.0.0.1', (_, response) => response.end('<h1>Shop</h1>'));
  });
  afterAll(async () => {
    await site.close();
    await proxy.close();
  });

  /** The ways on which something arrived. @param expected ends the tries as soon as these have come */
  const arrived = async (without: readonly Guard[], expected: readonly Way[]): Promise<readonly Way[]> => {
    site.asked.length = 0;
    const [stun, namedStun, transport, quic] = [await udpPort(), await udpPort(), await udpPort(), await udpPort()];
    const ports = { stun, namedStun, transport, quic };
    const browser = await startBrowser({
      executable: chromiumPath ?? '',
      proxyPort: proxy.port,
      onEvent: () => undefined,
      limit: never,
      faults: new Faults(),
      without,
      flags: [`--origin-to-force-quic-on=127.0.0.1:${quic.port}`],
    });
    const found = (): readonly Way[] =>
      WAYS.filter((way) => (way === 'connection' ? site.asked.length > 0 : ports[way].packets.length > 0));
    try {
      const { tools } = browser;
      const { targetId } = await tools.send('Target.createTarget', { url: 'about:blank' }, Target);
      const { sessionId } = await tools.send('Target.attachToTarget', { targetId, flatten: true }, Session);
      const open = (url: string) => tools.send('Page.navigate', { url }, z.unknown(), sessionId);
      await open(`http://127.0.0.1:${site.port}/`);
      const numbers = Object.fromEntries(Object.entries(ports).map(([name, { port }]) => [name, port]));
      const evaluate = { expression: tries(numbers), awaitPromise: true };
      const tried = tools.send('Runtime.evaluate', evaluate, Done, sessionId).then(() => true);
      tried.catch(() => undefined);
      await Promise.race([tried, until(() => expected.every((way) => way === 'quic' || found().includes(way)))]);
      if (expected.length === 0) await tried;
      const opened = open(`https://127.0.0.1:${quic.port}/`);
      await Promise.race([opened, until(() => found().includes('quic'))]);
      return found();
    } finally {
      await browser.close();
      for (const port of Object.values(ports)) port.close();
    }
  };

  it.each<[string, readonly Guard[], readonly Way[]]>([
    ['nothing with all of them', [], []],
    ['to this machine without that for loopback', ['loopback'], ['transport', 'connection']],
    ['to addresses without those for WebRTC and the proxy', ['webRtc', 'proxy'], ['stun', 'transport', 'connection']],
    ['everything without all of them', ['webRtc', 'proxy', 'loopback', 'names', 'quic'], WAYS],
  ])('a page sends %s', async (_, without, expected) => {
    expect(await arrived(without, expected)).toEqual(expected);
  });
});

const Target = z.looseObject({ targetId: z.string() });
const Session = z.looseObject({ sessionId: z.string() });
const Done = z.looseObject({ result: z.looseObject({ value: z.literal(true) }) });
