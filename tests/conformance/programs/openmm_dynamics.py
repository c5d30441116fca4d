"""Energies and a short run of a box of argon by OpenMM in OpenCL, beside its reference platform."""

import openmm
from openmm import unit


def box(platform):
    system = openmm.System()
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(1.0 * unit.nanometer)
    positions = []
    for index in range(125):
        system.addParticle(39.9)
        force.addParticle(0, 0.34, 0.99)
        positions.append(openmm.Vec3(index % 5, index // 5 % 5, index // 25) * 0.45)
    system.setDefaultPeriodicBoxVectors(*[openmm.Vec3(*(2.25 if i == j else 0 for j in range(3))) for i in range(3)])
    system.addForce(force)
    context = openmm.Context(system, openmm.VerletIntegrator(0.002), openmm.Platform.getPlatformByName(platform))
    context.setPositions(positions)
    return context


def energy(context):
    state = context.getState(getEnergy=True)
    return (state.getPotentialEnergy() + state.getKineticEnergy()).value_in_unit(unit.kilojoule_per_mole)


reference, device = box("Reference"), box("OpenCL")
expected, found = energy(reference), energy(device)
assert abs(expected - found) < 1e-3 * abs(expected), (expected, found)
print("energy agrees")
device.getIntegrator().step(200)
later = energy(device)
assert abs(later - found) < 0.05 * abs(found), (found, later)
print("energy is kept")
