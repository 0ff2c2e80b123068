import { expect, it } from 'vitest';
import { NewPassword } from '../../../schemas/api/new-password.js';

it.each([
  ['aaaaaaaaaaaa', 'must not repeat the same one to four characters'],
  ['abababababab', 'must not repeat the same one to four characters'],
  ['123412341234', 'must not repeat the same one to four characters'],
  [' '.repeat(12), 'must not consist of spaces only'],
  [' \t'.repeat(8), 'must not consist of spaces only'],
  ['Password1234', 'is one of the most common passwords'],
  ['qwertyuiop123', 'is one of the most common passwords'],
  ['short', '>=12'],
  ['x'.repeat(50) + 'y'.repeat(151), '<=200'],
])('refuses %j, and says why', (password, reason) => {
  expect(
    NewPassword.safeParse(password)
      .error?.issues.map(({ message }) => message)
      .join(),
  ).toContain(reason);
});

it.each(['correct horse battery', 'aaaaaaaaaaab', 'ваш новый пароль', 'a'.repeat(100) + 'b'.repeat(100)])(
  'accepts %j',
  (password) => {
    expect(NewPassword.parse(password)).toBe(password);
  },
);
