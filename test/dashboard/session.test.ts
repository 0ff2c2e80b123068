import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SessionStore } from '../../dashboard/src/api/session.js';
import { until } from '../support/wait.js';

const user = (id: string) => ({
  id,
  email: `${id}@shop.example`,
  role: 'owner' as const,
  tenant_id: '018f0000-0000-7000-8000-000000000000',
});
const tokensOf = (id: string, expires_in = 900) => ({ access_token: `token of ${id}`, expires_in, user: user(id) });

/** Requests of the page: the path, and the token if there was one. */
let sent: string[];
/** Id of the user whose cookie the browser has. */
let cookie: string;
/** The tokens that the service accepts. */
let accepted: readonly string[];

beforeEach(() => {
  sent = [];
  vi.stubGlobal('fetch', async (input: Request | string) => {
    const path = typeof input === 'string' ? input : new URL(input.url).pathname;
    if (path === '/api/v1/auth/refresh') return Response.json({ data: tokensOf(cookie) });
    const token = typeof input === 'string' ? null : input.headers.get('authorization');
    sent.push(`${path} ${token}`);
    return new Response(null, { status: accepted.some((one) => token === `Bearer ${one}`) ? 200 : 401 });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const request = () => new Request('https://ledger.example/api/v1/sites', { method: 'POST', body: '{}' });

/** The mark of a browser. */
function markOf(isMarked = false) {
  let isSet = isMarked;
  return {
    isSet: () => isSet,
    set: () => {
      isSet = true;
    },
    remove: () => {
      isSet = false;
    },
  };
}

function sessionOf(id: string, expiresIn: number) {
  const startAnew = vi.fn();
  const session = new SessionStore(startAnew, (work) => work(), markOf());
  session.begin(tokensOf(id, expiresIn));
  const states: string[] = [];
  session.subscribe(() => states.push(session.session.status));
  return { session, startAnew, states };
}

test('sends a request after a renewal for the same user', async () => {
  [cookie, accepted] = ['ann', ['token of ann']];
  const { session, startAnew } = sessionOf('ann', 0);
  expect((await session.send(request())).status).toBe(200);
  expect(sent).toEqual(['/api/v1/sites Bearer token of ann']);
  expect(startAnew).not.toHaveBeenCalled();
});

test.each([
  ['before the request, because the token expires', 0, []],
  ['after the request, because the token is not accepted', 900, ['/api/v1/sites Bearer token of ann']],
])('a renewal %s: nothing is sent as another user, and the page starts anew', async (_when, expiresIn, expected) => {
  [cookie, accepted] = ['ben', ['token of ben']];
  const { session, startAnew, states } = sessionOf('ann', expiresIn);
  const answered = vi.fn();
  void session.send(request()).then(answered, answered);
  await until(() => startAnew.mock.calls.length > 0);
  void session.send(request()).then(answered, answered);
  await new Promise(setImmediate);
  expect(sent).toEqual(expected);
  expect(answered).not.toHaveBeenCalled();
  expect(states).toEqual(['starting']);
  expect(startAnew).toHaveBeenCalledOnce();
});

test('a sign-in of another user ends the session of the first', () => {
  const { session, states } = sessionOf('ann', 900);
  session.begin(tokensOf('ben'));
  expect(states).toEqual(['signed-out', 'signed-in']);
});

test('without a mark, a page is signed out and asks the service for nothing', async () => {
  const asked = vi.fn();
  vi.stubGlobal('fetch', asked);
  const session = new SessionStore(vi.fn(), (work) => work(), markOf());
  await session.resume();
  expect(session.session.status).toBe('signed-out');
  expect(asked).not.toHaveBeenCalled();
});

test.each([
  ['a sign-in that expired', 401, false],
  ['a service that is busy', 503, true],
])('after %s (%i), whether the next page asks the service is %s', async (_what, status, isKept) => {
  vi.stubGlobal('fetch', async () => new Response('{}', { status }));
  const mark = markOf(true);
  const session = new SessionStore(vi.fn(), (work) => work(), mark);
  await session.resume();
  expect([session.session.status, mark.isSet()]).toEqual(['signed-out', isKept]);
});

test('the mark stands from the sign-in to its end, and a sign-in of another tab resumes by it', async () => {
  cookie = 'ann';
  const mark = markOf();
  const session = new SessionStore(vi.fn(), (work) => work(), mark);
  session.begin(tokensOf('ann'));
  const other = new SessionStore(vi.fn(), (work) => work(), mark);
  await other.resume();
  expect(other.session).toMatchObject({ status: 'signed-in', user: { id: 'ann' } });
  session.end();
  expect(mark.isSet()).toBe(false);
});

test.each([
  ['reads, and nothing would be lost', 'GET', false, 'signed-out'],
  ['reads, and something typed would be lost', 'GET', true, 'signed-in'],
  ['saves what was typed', 'POST', false, 'signed-in'],
])('a sign-in has ended while a request %s (%s)', async (_what, method, isHeld, status) => {
  vi.stubGlobal('fetch', async () => new Response('{}', { status: 401 }));
  const { session } = sessionOf('ann', 900);
  session.keepWhile(() => isHeld);
  expect((await session.send(new Request('https://ledger.example/api/v1/sites', { method }))).status).toBe(401);
  expect(session.session.status).toBe(status);
});

test('a request after a sign-in in another tab goes on where the page was kept', async () => {
  let isSignedIn = false;
  vi.stubGlobal('fetch', async (input: Request | string) => {
    if (typeof input === 'string') return Response.json({ data: tokensOf('ann') }, { status: isSignedIn ? 200 : 401 });
    return new Response('{}', { status: isSignedIn ? 200 : 401 });
  });
  const { session } = sessionOf('ann', 900);
  expect((await session.send(request())).status).toBe(401);
  isSignedIn = true;
  expect((await session.send(request())).status).toBe(200);
  expect(session.session.status).toBe('signed-in');
});
