import * as z from 'zod';

/**
 * The most common passwords of 12 and more characters in published lists of leaked passwords, in
 * lower case.
 */
const COMMON: ReadonlySet<string> = new Set([
  '012345678910',
  '0123456789ab',
  '0987654321qw',
  '111222333444',
  '112233445566',
  '1234567890qw',
  '123456789012',
  '1234567890123',
  '123456789abc',
  '123456qwerty',
  '123qweasdzxc',
  '1q2w3e4r5t6y',
  '1q2w3e4r5t6y7u',
  '1q2w3e4r5t6y7u8i',
  '1qaz2wsx3edc',
  '1qaz2wsx3edc4rfv',
  '1qazxsw23edc',
  'abc123456789',
  'abcd12345678',
  'abcdefghijkl',
  'admin1234567',
  'administrator',
  'administrator1',
  'changeme1234',
  'correcthorsebatterystaple',
  'football1234',
  'iloveyou1234',
  'letmein12345',
  'p@ssw0rd1234',
  'passw0rd1234',
  'password1234',
  'password12345',
  'password123456',
  'passwordpassword',
  'princess1234',
  'q1w2e3r4t5y6',
  'qazwsxedcrfv',
  'qwerty123456',
  'qwerty1234567',
  'qwerty12345678',
  'qwertyqwerty',
  'qwertyuiop12',
  'qwertyuiop123',
  'qwertyuiop[]',
  'qwertyuiopasdf',
  'qwertyuiopasdfghjklzxcvbnm',
  'sunshine1234',
  'welcome12345',
  'zaq12wsxcde3',
]);

/** One to four characters that repeat: `aaaa…`, `abab…`, `123123…`. */
const REPEATED = /^(.{1,4})\1+$/su;

/**
 * A new password: 12 to 200 characters. NIST SP 800-63B, 3.1.1 requires length and no particular characters; 3.1.1.2
 * requires that common passwords are refused. If the user's e-mail address is known, the caller also checks that the
 * password differs from it.
 */
export const NewPassword = z
  .string()
  .min(12)
  .max(200)
  .refine((password) => password.trim() !== '', 'must not consist of spaces only')
  .refine((password) => !REPEATED.test(password), 'must not repeat the same one to four characters')
  .refine((password) => !COMMON.has(password.toLowerCase()), 'is one of the most common passwords');
