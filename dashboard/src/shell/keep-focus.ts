import { type RefObject, useEffect } from 'react';

/** Where the focus was last: the control, and the elements around it from the inside out. */
interface Place {
  readonly control: Element;
  readonly around: readonly Element[];
  /** Number of the row of a list that the control was in, or null. */
  readonly row: number | null;
}

const IN_ROW = 'a[href], button:not(:disabled), input:not(:disabled)';

/**
 * Keeps the focus near its place when the control that has it goes: after a removal, a publication, or a press that
 * replaces the button by what it shows (WCAG 2.4.3). The focus goes to the row that follows, or else to the heading of
 * the part of the page.
 */
export function useKeptFocus(content: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const main = content.current;
    if (main === null) return;
    let place: Place | null = null;
    let frame = 0;
    const note = ({ target }: FocusEvent) => {
      if (target instanceof Element) place = placeOf(target, main);
    };
    const restore = () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (place === null || !isLost || document.querySelector('[role=dialog],[role=alertdialog]') !== null) return;
      if (place.control.isConnected && !place.control.matches(':disabled')) return;
      nextOf(place)?.focus();
    };
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      // A dialog that closes gives the focus back within two frames.
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(() => {
          frame = requestAnimationFrame(restore);
        });
      });
    });
    main.addEventListener('focusin', note);
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
    return () => {
      main.removeEventListener('focusin', note);
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [content]);
}

function placeOf(control: Element, main: Element): Place {
  const around: Element[] = [];
  for (let one = control.parentElement; one !== null && one !== main.parentElement; one = one.parentElement)
    around.push(one);
  const row = control.closest('tbody tr');
  return { control, around, row: row instanceof HTMLTableRowElement ? row.sectionRowIndex : null };
}

/** @returns what takes the focus in place of a control that is gone */
function nextOf({ around, row }: Place): HTMLElement | null {
  const left = around.filter((one) => one.isConnected);
  const rows = left.find((one) => one.matches('tbody'))?.children ?? [];
  const next = row === null ? undefined : (rows[row] ?? rows[rows.length - 1]);
  const inRow = next?.querySelector<HTMLElement>(IN_ROW);
  if (inRow) return inRow;
  const part = left.find((one) => one.matches('section') && one.querySelector('h2') !== null) ?? left.at(-1);
  const heading = part?.querySelector<HTMLElement>(part.matches('section') ? 'h2' : 'h1') ?? null;
  heading?.setAttribute('tabindex', '-1');
  return heading;
}
