/** What lies far up in the conversation is not fetched before somebody comes near it. */

/** So far beyond what is seen. */
const AHEAD = "1200px";

const waiting = new WeakMap();
const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    waiting.get(target)?.();
    waiting.delete(target);
  }
}, { rootMargin: AHEAD });

/** Calls `act` once, when the element comes near what is seen. */
export function whenNear(element, act) {
  waiting.set(element, act);
  observer.observe(element);
}
