import type { Page, PageRequest } from '../../api/panel/page.js';

const PAGE = 100;

/** Reads all pages of a list. */
export async function allPages<T>(read: (page: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read({ limit: PAGE, ...(cursor !== null && { cursor }) });
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}
