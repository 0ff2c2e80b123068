import { type ReactNode, useContext, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useMessages } from '../i18n/locale.js';
import { AskBefore } from './ask-before.js';
import { UnsavedContext, UnsavedScope, useUnsaved } from './unsaved.js';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Whether a click outside leaves it open. */
  readonly staysOpen?: boolean;
  /** Whether it shows something that is not shown again, so that Escape and the way out of the page ask first. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/**
 * A window over the page. The focus stays in it, and returns to where it was. Escape and a click outside ask first, if
 * something would be lost; the buttons of the dialog say what they do, and do it.
 */
export function Dialog({ title, isOpen, onClose, staysOpen = false, isShownOnce = false, children }: DialogProps) {
  const { common } = useMessages();
  const outer = useContext(UnsavedContext);
  const [scope] = useState(() => new UnsavedScope(outer));
  const [asks, setAsks] = useState(false);
  useUnsaved(() => (isOpen && isShownOnce ? 'shown-once' : null));
  const texts = isShownOnce ? common.closeShownOnce : common.closeUnsaved;
  return (
    <>
      <ModalOverlay
        className="overlay"
        isOpen={isOpen}
        onOpenChange={(open) => {
          if (open) return;
          if (isShownOnce || scope.held() !== null) setAsks(true);
          else onClose();
        }}
        isDismissable={!staysOpen && !isShownOnce}
      >
        <Modal className="modal">
          <AriaDialog className="dialog">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <UnsavedContext value={scope}>{children}</UnsavedContext>
          </AriaDialog>
        </Modal>
      </ModalOverlay>
      <AskBefore
        {...texts}
        stay={common.back}
        leave={common.close}
        isOpen={isOpen && asks}
        onStay={() => setAsks(false)}
        onLeave={() => {
          setAsks(false);
          onClose();
        }}
      />
    </>
  );
}
