import net from 'node:net';

/**
 * Sends prepared requests over several connections, one request at a time on each. The generator
 * thus uses little processor time beside the server on the same machine.
 * @param expectedStatus any other status ends the run
 * @returns milliseconds from the first sent byte to the last response, and of each request
 * @throws Error for another status, or a broken connection
 */
export async function sendAll(
  port: number,
  requests: readonly Buffer[],
  connections: number,
  expectedStatus: number,
): Promise<{ readonly ms: number; readonly each: readonly number[] }> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => connect(port)));
  const each: number[] = [];
  let next = 0;
  const started = performance.now();
  try {
    await Promise.all(sockets.map((socket) => work(socket, () => requests[next++], expectedStatus, each)));
    return { ms: performance.now() - started, each };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function connect(port: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

function work(
  socket: net.Socket,
  take: () => Buffer | undefined,
  expectedStatus: number,
  each: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    let sentAt = 0;
    const send = (): void => {
      const request = take();
      sentAt = performance.now();
      if (request === undefined) resolve();
      else socket.write(request);
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd + 2));
      if (length === null) return reject(new Error('an answer states no length'));
      if (received.length < headEnd + 4 + Number(length[1])) return;
      if (received.slice(9, 12) !== String(expectedStatus)) return reject(new Error(received.slice(0, 2000)));
      each.push(performance.now() - sentAt);
      received = '';
      send();
    });
    send();
  });
}
