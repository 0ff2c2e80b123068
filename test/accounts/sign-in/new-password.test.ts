import { expect, it } from 'vitest';
import { NewPassword } from '../../../schemas/api/new-password.js';

it.each([
  ['aaaaaaaaaaaa', 'again and again'],
  ['abababababab', 'again and again'],
  ['123412341234', 'again and again'],
  [' '.repeat(12), 'of spaces only'],
  [' \t'.repeat(8), 'of spaces only'],
  ['Password1234', 'everybody tries first'],
  ['qwertyuiop123', 'everybody tries first'],
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
  'takes %j',
  (password) => {
    expect(NewPassword.parse(password)).toBe(password);
  },
);
