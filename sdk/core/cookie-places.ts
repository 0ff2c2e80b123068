/** Domain and path of a cookie. Without a `domain`, the cookie is for this host alone. */
export interface CookiePlace {
  readonly domain: string | undefined;
  readonly path: string;
}

/**
 * Every domain and path whose cookies a page can see (RFC 6265 §5.1.3, §5.1.4). A script cannot ask
 * where a cookie is, so that it deletes a stale one by trying all of them.
 */
export function cookiePlaces({
  hostname,
  pathname,
}: {
  readonly hostname: string;
  readonly pathname: string;
}): readonly CookiePlace[] {
  const labels = hostname.split('.');
  const domains = [undefined, ...labels.map((_, i) => labels.slice(i).join('.'))];
  const folders = pathname.split('/').slice(1);
  const paths = [
    '/',
    ...folders.flatMap((_, i) => {
      const path = `/${folders.slice(0, i + 1).join('/')}`;
      return [path, `${path}/`];
    }),
  ];
  return domains.flatMap((domain) => paths.map((path) => ({ domain, path })));
}
