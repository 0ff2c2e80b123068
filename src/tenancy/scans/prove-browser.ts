import { createSocket, type Socket } from 'node:dgram';
import * as z from 'zod';
import { createReach } from '../../platform/net/reach.js';
import { startBrowser } from './browser.js';
import { startGuardedProxy } from './guarded-proxy.js';
import type { Faults } from './visit.js';

/**
 * An expression that makes a page ask a STUN server for its own address, with a packet that bypasses the proxy. It ends
 * when the browser has tried every way.
 */
const ASK = (port: number): string => `new Promise((resolve) => {
  const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });
  connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve(true);
  connection.createDataChannel('proof');
  connection.setLocalDescription();
})`;

const MARK = Buffer.from('mark');
const Evaluated = z.looseObject({ result: z.looseObject({ value: z.literal(true) }) });
const Created = z.looseObject({ targetId: z.string() });
const Attached = z.looseObject({ sessionId: z.string() });

/**
 * Opens a page that asks a STUN port of this process.
 * @param isGuarded false to omit the flags that switch WebRTC off, so that the packet must arrive
 * @param limit ends the browser
 * @returns whether a packet arrived
 * @throws ScanFailed if the page did not finish
 */
export async function asksStun(
  executable: string,
  isGuarded: boolean,
  faults: Faults,
  limit: AbortSignal,
): Promise<boolean> {
  const socket = createSocket('udp4');
  const proxy = await startGuardedProxy(createReach([]), faults);
  try {
    const port = await bound(socket);
    const asked = new Promise<boolean>((resolve) => socket.on('message', (packet) => resolve(!packet.equals(MARK))));
    const browser = await startBrowser({
      executable,
      proxyPort: proxy.port,
      onEvent: () => undefined,
      faults,
      limit,
      without: isGuarded ? [] : ['webRtc'],
    });
    try {
      const { targetId } = await browser.tools.send('Target.createTarget', { url: 'about:blank' }, Created);
      const { sessionId } = await browser.tools.send('Target.attachToTarget', { targetId, flatten: true }, Attached);
      const evaluate = { expression: ASK(port), awaitPromise: true };
      const finished = browser.tools.send('Runtime.evaluate', evaluate, Evaluated, sessionId).then(() => {
        // Any packet of the browser must have arrived before this one.
        socket.send(MARK, port, '127.0.0.1');
        return asked;
      });
      return await Promise.race([asked, finished]);
    } finally {
      await browser.close();
    }
  } finally {
    socket.close();
    await proxy.close();
  }
}

function bound(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, '127.0.0.1', () => resolve(socket.address().port));
  });
}
