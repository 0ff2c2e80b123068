import { expect, it } from 'vitest';
import { AllowedOrigins } from '../../../schemas/api/panel/sites.js';
import { isOriginAllowed } from '../../../src/platform/net/addresses.js';

it.each([
  'https://shop.example',
  'http://localhost:3000',
  'capacitor://localhost',
  'ionic://localhost',
  'app.shop://shop.example:8080',
])('lists %s, and allows it alone', (origin) => {
  const allowed = AllowedOrigins.parse([origin]);
  expect(isOriginAllowed(allowed, origin)).toBe(true);
  expect(isOriginAllowed(allowed, `${origin}.evil.example`)).toBe(false);
  expect(isOriginAllowed(allowed, 'null')).toBe(false);
});

it.each([
  'null',
  '*',
  'file://localhost',
  'https://shop.example/',
  'https://shop.example:443',
  'capacitor://localhost/page',
  'capacitor://',
  'javascript:alert(1)',
  'https://user@shop.example',
])('refuses %s, which no browser sends as the origin of one app', (text) => {
  expect(AllowedOrigins.safeParse([text]).success).toBe(false);
});
