import { describe, expect, it } from 'vitest';
import { CHALLENGE_MS, newChallenge, timeOfChallenge } from '../../../src/accounts/passkeys/challenges.js';
import { relyingPartyOf } from '../../../src/accounts/passkeys/relying-party.js';
import { challengeIn, wentBack } from '../../../src/accounts/passkeys/web-authn.js';

describe('passkeys', () => {
  it.each([
    ['https://consent.example.org', { id: 'consent.example.org', origin: 'https://consent.example.org' }],
    ['https://consent.example.org:8443', { id: 'consent.example.org', origin: 'https://consent.example.org:8443' }],
    ['http://localhost:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
    ['http://consent.example.org', null],
    ['http://127.0.0.1:8080', null],
    ['https://192.0.2.1', null],
    ['https://[2001:db8::1]', null],
    [undefined, null],
  ])('exist at %s only where browsers offer them', (publicUrl, expected) => {
    expect(relyingPartyOf(publicUrl)).toEqual(expected);
  });

  const keys = { accountKey: async () => Buffer.alloc(32, 1) };
  const now = Date.parse('2026-11-21T10:00:00.123Z');

  it('sign challenges of the service, for their purpose and for five minutes', async () => {
    const challenge = await newChallenge(keys, 'sign_in', now);
    expect(await timeOfChallenge(keys, 'sign_in', challenge, now)).toBe(now);
    expect(await timeOfChallenge(keys, 'sign_in', challenge, now + CHALLENGE_MS - 1)).toBe(now);
    expect(await timeOfChallenge(keys, 'sign_in', challenge, now + CHALLENGE_MS)).toBeNull();
    expect(await timeOfChallenge(keys, 'sign_in', challenge, now - 31_000)).toBeNull();
    expect(await timeOfChallenge(keys, 'second_factor', challenge, now)).toBeNull();
    const others = { accountKey: async () => Buffer.alloc(32, 2) };
    expect(await timeOfChallenge(others, 'sign_in', challenge, now)).toBeNull();
    expect(await newChallenge(keys, 'sign_in', now)).not.toBe(challenge);
  });

  it('sign no challenge of which a single byte was changed or is missing', async () => {
    const bytes = Buffer.from(await newChallenge(keys, 'sign_in', now), 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(await timeOfChallenge(keys, 'sign_in', altered.toString('base64url'), now), String(at)).toBeNull();
      const shortened = bytes.subarray(0, at).toString('base64url');
      expect(await timeOfChallenge(keys, 'sign_in', shortened, now), `${at} bytes`).toBeNull();
    }
  });

  it('state their challenge, except in a frame of another origin', () => {
    const stated = (value: unknown) => challengeIn(Buffer.from(JSON.stringify(value)).toString('base64url'));
    expect(stated({ challenge: 'abc' })).toBe('abc');
    expect(stated({ challenge: 'abc', crossOrigin: true })).toBeNull();
    expect(stated({ challenge: 1 })).toBeNull();
    expect(stated(null)).toBeNull();
    expect(challengeIn('no JSON')).toBeNull();
  });

  it.each([
    [0, 0, false],
    [0, 1, false],
    [7, 8, false],
    [7, 7, true],
    [7, 6, true],
    [7, 0, true],
  ])('with the counter %i that state %i: copied is %s', (stored, given, expected) => {
    expect(wentBack(stored, given)).toBe(expected);
  });
});
