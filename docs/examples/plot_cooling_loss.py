"""
One loss, every temperature
===========================

At ρ = 1 without a margin the coherence function is the logistic loss; as ρ falls to 0, with a
margin, it is the SVM's hinge. In between it has a margin and a probability. The margin is u = 1 − ρ
here, so that both ends are met exactly.
"""

from clearning.display import LossDisplay
from clearning.losses import Coherence, HuberizedHinge

display = LossDisplay.from_cooling()

# %%
# The same in derivatives: a cold loss looks only at samples that lie near the margin. Its second
# derivative is all there is of a sample in a Newton step.

losses = {f"ρ = {rho:g}": Coherence(rho, 1.0) for rho in (1.0, 0.3, 0.1)}
display = LossDisplay.from_losses(
    {**losses, "huberised hinge": HuberizedHinge()}, quantity="hessian"
)
