import { describe, expect, it } from 'vitest';
import { composeMail } from '../../../src/accounts/mail/compose-mail.js';
import { ACCOUNT_NOTICES, type Letter, MAIL_LANGUAGES } from '../../../src/accounts/mail/mail-job.js';
import { mailLanguageOf } from '../../../src/accounts/mail/mail-queue.js';

const PUBLIC_URL = 'https://consent.example.org';
const linked = { to: 'a@person.example', token: 'T0KEN', expires_at: '2026-11-23T09:58:00.000Z' };

describe.each(MAIL_LANGUAGES)('mails in %s', (language) => {
  const letters: readonly [string, Letter][] = [
    ['accept-invitation', { kind: 'invitation', ...linked, invited_by: 'b@shop.example', language }],
    ['accept-invitation', { kind: 'invitation', ...linked, invited_by: null, language }],
    ['reset-password', { kind: 'password_reset', ...linked, language }],
    ['confirm-sign-up', { kind: 'sign_up', ...linked, language }],
  ];

  it.each(letters)(
    'have the link to /panel/%s on a line of its own, and the time until which it is valid',
    (page, letter) => {
      const { to, subject, text } = composeMail(letter, PUBLIC_URL);
      expect(to).toBe('a@person.example');
      expect(text.split('\n')).toContain(`${PUBLIC_URL}/panel/${page}#token=T0KEN`);
      expect(text).toContain(language === 'en' ? '2026-11-23 09:58 UTC' : '23.11.2026 09:58 UTC');
      expect(subject).toContain('consent.example.org');
      expect(subject).not.toMatch(/shop\.example|T0KEN|[\r\n]/);
    },
  );

  it('tell what happened, when, and where to act', () => {
    const texts = ACCOUNT_NOTICES.map((notice) =>
      composeMail({ kind: 'notice', to: linked.to, notice, at: '2026-01-02T03:04:05.678Z', language }, PUBLIC_URL),
    );
    for (const { text } of texts) {
      expect(text).toContain(language === 'en' ? '2026-01-02 03:04 UTC' : '02.01.2026 03:04 UTC');
      expect(text).toContain(`${PUBLIC_URL}/panel`);
    }
    expect(new Set(texts.map(({ subject }) => subject)).size).toBe(ACCOUNT_NOTICES.length);
  });

  it('tell how many passkeys stay valid after a new password, and where to remove them', () => {
    const notice = { kind: 'notice', to: linked.to, notice: 'password_changed', at: linked.expires_at } as const;
    expect(composeMail({ ...notice, language }, PUBLIC_URL).text).not.toContain('/panel/profile');
    const { text } = composeMail({ ...notice, passkeys: 2, language }, PUBLIC_URL);
    expect(text).toMatch(language === 'en' ? /^2 passkeys of the account/m : /^Hesabın 2 geçiş anahtarıyla/m);
    expect(text.split('\n')).toContain(`${PUBLIC_URL}/panel/profile`);
  });

  it('tell owners which domain is no longer proved, since when, and what stops', () => {
    const mails = (['failing', 'lapses_soon'] as const).map((warning) =>
      composeMail(
        {
          kind: 'domain_proof',
          to: linked.to,
          warning,
          domain: 'shop.example',
          since: '2026-01-02T03:04:05.678Z',
          lapses_at: '2026-02-01T03:04:05.678Z',
          language,
        },
        PUBLIC_URL,
      ),
    );
    for (const { subject, text } of mails) {
      expect(text).toContain('shop.example');
      expect(text).toContain(language === 'en' ? '2026-01-02 03:04 UTC' : '02.01.2026 03:04 UTC');
      expect(text).toContain(language === 'en' ? '2026-02-01 03:04 UTC' : '01.02.2026 03:04 UTC');
      // The domain was checked as one, so it can stand in a header.
      expect(subject).toMatch(/^[^\r\n]*shop\.example[^\r\n]*$/);
    }
    expect(new Set(mails.map(({ subject }) => subject)).size).toBe(2);
  });

  it('contain no token where the address has an account', () => {
    const { text } = composeMail({ kind: 'already_user', to: linked.to, language }, PUBLIC_URL);
    expect(text).not.toContain('token');
  });
});

it.each([
  [undefined, 'en'],
  ['tr', 'tr'],
  ['tr-TR,tr;q=0.9,en;q=0.8', 'tr'],
  ['en-GB,en;q=0.9,tr;q=0.8', 'en'],
  ['de,tr;q=0.5', 'tr'],
  ['de', 'en'],
  ['\u0000', 'en'],
])('of a request with Accept-Language %j are in %s', (header, language) => {
  expect(mailLanguageOf(header)).toBe(language);
});
