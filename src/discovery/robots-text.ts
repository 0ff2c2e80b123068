/** robots.txt (RFC 9309): crawlers may read what is published, and have nothing to do in the APIs. */
export function robotsText(): string {
  return `User-agent: *
Disallow: /tool/
Disallow: /api/
Allow: /
`;
}
