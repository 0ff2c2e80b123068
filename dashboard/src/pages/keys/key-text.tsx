import { useState } from 'react';
import type { ApiKey } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Copyable } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { keyStateOf } from './key-facts.js';

/** The start of a key and, of a publishable one that works, the whole key on request. */
export function KeyText({ value }: { readonly value: ApiKey }) {
  const { keys, common } = useMessages();
  const [isOpen, setOpen] = useState(false);
  const { prefix, publishable_key: text, restriction } = value;
  // On a phone, the name says which key it is.
  const start = <code data-phone="hidden">{prefix}…</code>;
  if (text === null) {
    const state = keyStateOf(value, Date.now());
    const isLost = restriction === 'publishable' && state !== 'revoked' && state !== 'expired';
    return (
      <>
        {start}
        {isLost && <div className="hint">{keys.cannotShow}</div>}
      </>
    );
  }
  return (
    <span className="actions">
      {start}
      <Button aria-label={`${keys.show}: ${value.name || prefix}`} onPress={() => setOpen(true)}>
        {keys.show}
      </Button>
      <Dialog title={value.name || prefix} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Copyable text={text} label={keys.key} />
        <Button look="primary" onPress={() => setOpen(false)}>
          {common.close}
        </Button>
      </Dialog>
    </span>
  );
}
