/**
 * Keeps a frame of this name in the page, by which other frames find the window that answers them. The frame exists as
 * soon as `body` does, and is added again when a page replaces its body, as routers do.
 */
export function keepLocator(name: string): void {
  const frame = document.createElement('iframe');
  // A style of the page for frames would show what is only `hidden`.
  frame.style.display = 'none';
  frame.name = name;
  frame.title = '';
  // In a separate task, so that a page that keeps removing the frame does not hang.
  const removed = new MutationObserver(() => setTimeout(place));
  function place(): void {
    if (!frame.isConnected) document.body?.append(frame);
    for (const node of [document, document.documentElement, document.body])
      if (node !== null) removed.observe(node, { childList: true });
  }
  const appeared = new MutationObserver(() => {
    if (document.body === null) return;
    appeared.disconnect();
    place();
  });
  appeared.observe(document, { childList: true, subtree: true });
  if (document.body !== null) {
    appeared.disconnect();
    place();
  }
  // Hydration by a framework tolerates foreign nodes at the end of `body` only, which is known now.
  document.addEventListener('readystatechange', () => document.body?.append(frame), { once: true });
}
