import { getEventListeners, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { cutOnClosing } from '../../../src/api/tool/record-export.js';

it('an export whose client left before its first records leaves no listener on the end of the service', async () => {
  const closing = new AbortController();
  let onLeft = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    onLeft = resolve;
  });
  const server = createServer((_request, response: ServerResponse) => {
    response.once('close', () => {
      cutOnClosing(response, closing.signal);
      onLeft();
    });
    client.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = connect(address.port, address.address);
  client.write('GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n');
  await left;
  server.close();
  expect(getEventListeners(closing.signal, 'abort')).toEqual([]);
});
